"""Compares utterances and conversations by their words. Case, spacing and punctuation are ignored.

Conversations with the same text show annotators the same thing. Annotators who see the text again, in the same
conversation or another one, repeat their answers. So more copies of a text tell nothing about other conversations. They
count as one cluster in every interval and test, also if their speakers differ.

The text of a conversation is the part that annotators see. Conversations that differ only after this part count as the
same. Conversations that have the same beginning but differ within this part stay different.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the words of a text after NFKC normalisation and case folding. `I ' m` and `I'm` have the same words."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.casefold())


def normalised(text: str) -> str:
    """Return the words of a text with one space between them. A text without words, such as `...`, is only stripped."""
    return " ".join(words(text)) or text.strip()


def text_hash(utterances: Sequence[str]) -> bytes:
    """Return a hash of 16 bytes. Conversations with the same words in the same utterances have the same hash."""
    return hashlib.blake2b("\x00".join(map(normalised, utterances)).encode(), digest_size=16).digest()


def known_text_hash(utterances: Sequence[str]) -> bytes | None:
    """Return `text_hash`; None if all utterances are blank, since conversations with missing texts are not the same."""
    return text_hash(utterances) if any(map(str.strip, utterances)) else None
