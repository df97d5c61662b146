"""Converts the faults that `annotation` finds in a campaign to faults of the file that declares the campaign."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, in_document
from spotthebot.cli.declarations.refusals import place_of
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.clients import PeerRefused

_KEYS: Final[Mapping[str, str]] = {"pay_per_package": "pay", "currency": "pay", "protocol_version": "protocol"}
_OF_THE_FILE: Final = frozenset({HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY})


def refusal_of(declared: CampaignDeclared, refused: PeerRefused) -> Exception:
    """Return the faults of the campaign's file for a refused request.

    A refusal with another status than 409 or 422 does not concern the file and is returned unchanged.
    """
    if refused.status not in _OF_THE_FILE:
        return refused
    faults = [_fault(declared, each.pointer or "", f"{each.detail.rstrip('.')}.") for each in refused.problem.errors]
    return declared.faulty(*(faults or [((), refused.problem.detail)]))


def _fault(declared: CampaignDeclared, pointer: str, reason: str) -> tuple[Place, str]:
    """Return a fault's place in the campaign's file, and its message.

    If the fault is in a document that the file names, the message begins with the document's name.
    """
    said = declared.request
    documents = {"/protocol_document": (("protocol",), said.protocol)} | {
        f"/training_documents/{number}": (("trainings", number), name) for number, name in enumerate(said.trainings)
    }
    for at, (place, name) in documents.items():
        if pointer == at or pointer.startswith(f"{at}/"):
            return place, in_document(name, pointer.removeprefix(at), reason)
    return place_of(pointer, _KEYS), reason
