"""Converts the faults that a service finds in a request to faults of the declaration file behind the request."""

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import BaseModel

from spotthebot.cli.declarations.declared import Declared
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.clients import PeerRefused


def faults_of(declared: Declared[BaseModel], refused: PeerRefused, keys: Mapping[str, str]) -> Exception:
    """Return the faults of a request's body as faults of the declaration file. Other errors are returned unchanged.

    `keys` has the file's key for each key of the API that is named differently in the file.
    """
    of_fields = refused.status == HTTPStatus.CONFLICT and refused.problem.errors
    if refused.status != HTTPStatus.UNPROCESSABLE_ENTITY and not of_fields:
        return refused
    faults = [(place_of(each.pointer or "", keys), f"{each.detail.rstrip('.')}.") for each in refused.problem.errors]
    return declared.faulty(*(faults or [((), str(refused.facts["detail"]))]))


def place_of(pointer: str, keys: Mapping[str, str]) -> Place:
    """Return the place in the file for a JSON pointer of the API."""
    parts = [keys.get(part, part) for part in pointer.split("/")[1:]]
    return tuple(int(part) if part.isdecimal() else part for part in parts)
