"""Pseudonyms of annotators, for those who may see what was annotated and not by whom."""

import base64
import hashlib
import hmac
import re
from typing import Final
from uuid import UUID

_BYTES: Final = 16
_KEPT = re.compile(r"simulated-\d{1,9}|p-[0-9a-v]{26}")
"""Programs, and pseudonyms of the campaign that annotations were imported from."""


def pseudonym_of(key: bytes, annotator_id: UUID, name: str) -> str:
    """Return the name of an annotator in exports: HMAC-SHA-256 under the campaign's key, of which 128 bits are kept.

    It is made from our id of the annotator, so that it outlives their erasure. Simulated annotators keep their name,
    and a pseudonym with which somebody came stays: an export that is imported again gives the same export.
    """
    if _KEPT.fullmatch(name):
        return name
    digest = hmac.digest(key, annotator_id.bytes, hashlib.sha256)[:_BYTES]
    return f"p-{base64.b32hexencode(digest).decode().rstrip('=').lower()}"
