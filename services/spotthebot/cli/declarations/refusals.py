"""What a service finds wrong with a request, as faults of the file that the request was made from."""

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import BaseModel

from spotthebot.cli.declarations.declared import Declared
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.clients import PeerRefused


def faults_of(declared: Declared[BaseModel], refused: PeerRefused, keys: Mapping[str, str]) -> Exception:
    """Return the API's faults of the body as faults of the file, and all other faults unchanged.

    `keys` are those of the API that are called otherwise in a declaration.
    """
    of_fields = refused.status == HTTPStatus.CONFLICT and refused.problem.errors
    if refused.status != HTTPStatus.UNPROCESSABLE_ENTITY and not of_fields:
        return refused
    faults = [(_place(each.pointer or "", keys), f"{each.detail.rstrip('.')}.") for each in refused.problem.errors]
    return declared.faulty(*(faults or [((), str(refused.facts["detail"]))]))


def _place(pointer: str, keys: Mapping[str, str]) -> Place:
    parts = [keys.get(part, part) for part in pointer.split("/")[1:]]
    return tuple(int(part) if part.isdecimal() else part for part in parts)
