"""The form of a campaign's file, what one key demands of another, and the files that it names."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.cli import declarations
from spotthebot.cli.campaigns.declaration import Declaration, Pay
from spotthebot.cli.declarations import Contradictions, DeclarationFaulty, Form, read_declared
from spotthebot.contracts.annotation.campaigns import ConsentText, Instructions
from spotthebot.contracts.annotation.panels import CloudResearchPanel, GenericPanel, ProlificPanel
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.kit.errors import FieldError
from spotthebot.kit.text.validation import faults_of, reason_of

_MAX_FILE_BYTES = 1024 * 1024
_MAX_SHOWN = 5
Document = TypeVar("Document", bound=BaseModel)


@dataclass(frozen=True)
class CampaignDeclared(declarations.Declared[Declaration]):
    """A campaign's declaration with what the files hold that it names."""

    protocol: AnnotationProtocol | None
    """The document of a protocol; None where the file names one that the service has."""
    instructions: str
    consent: str
    trainings: tuple[Training, ...]


def read_declaration(path: Path) -> CampaignDeclared:
    """Read a campaign's file and the files that it names; raises DeclarationFaulty with all that is wrong with them."""
    declared = read_declared(path, _FORM)
    faults: list[DeclarationFaulty] = []
    protocol, trainings, texts = None, [], {"instructions": "", "consent": ""}
    try:
        protocol = _read_protocol(declared)
    except DeclarationFaulty as faulty:
        faults.append(faulty)
    for document in declared.request.trainings:
        try:
            trainings.append(_read_document(declared, "trainings", document, Training, lambda _training: ()))
        except DeclarationFaulty as faulty:
            faults.append(faulty)
    for key, name in (("instructions", declared.request.instructions), ("consent", declared.request.consent)):
        try:
            texts[key] = _read_text(declared, key, name)
        except DeclarationFaulty as faulty:
            faults.append(faulty)
    if faults:
        raise DeclarationFaulty(path, [fault for faulty in faults for fault in faulty.faults])
    return CampaignDeclared(
        declared.request, declared.file, declared.sha256, protocol, **texts, trainings=tuple(trainings)
    )


def _contradictions(request: Declaration) -> Contradictions:
    for number, name in enumerate(request.collections):
        if name in request.collections[:number]:
            yield ("collections", number), f"'{name}' is named twice: name each collection once."


def _read_protocol(declared: declarations.Declared[Declaration]) -> AnnotationProtocol | None:
    name = declared.request.protocol
    if "." not in name and "/" not in name:
        return None
    return _read_document(declared, "protocol", name, AnnotationProtocol, check_protocol)


def _read_document(
    declared: declarations.Declared[Declaration],
    key: str,
    name: str,
    kind: type[Document],
    check: Callable[[Document], Iterable[FieldError]],
) -> Document:
    """Return a document that a file of JSON holds; raises DeclarationFaulty with its first faults."""
    content = _read(declared, key, name)
    try:
        document = kind.model_validate(json.loads(content))
        faults = [(fault.pointer, fault.detail) for fault in check(document)]
    except ValidationError as error:
        faults = [("".join(f"/{part}" for part in each["loc"]), f"{reason_of(each)}.") for each in error.errors()]
    except (ValueError, RecursionError) as error:
        faults = [("", f"not JSON: {error}.")]
    if faults:
        raise declared.faulty(*(((key,), f"{name}{at and f', {at}'}: {why}") for at, why in faults[:_MAX_SHOWN]))
    return document


def _read_text(declared: declarations.Declared[Declaration], key: str, name: str | None) -> str:
    """Return the text of a file for annotators; "" where none is named."""
    if name is None:
        return ""
    text = _read(declared, key, name)
    try:
        checked: str = _TEXTS[key].validate_python(text)
    except ValidationError as error:
        reason = "; ".join(faults_of(error))
        raise declared.faulty(((key,), f"{name}: {reason}.")) from error
    return checked


def _read(declared: declarations.Declared[Declaration], key: str, name: str) -> str:
    """Return the text of a file whose path begins at the declaration's folder."""
    try:
        with (declared.file.path.parent / name).open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise declared.faulty(((key,), f"the file {name} can't be read: {error.strerror}.")) from error
    if len(content) > _MAX_FILE_BYTES:
        raise declared.faulty(((key,), f"the file {name} holds more than {_MAX_FILE_BYTES} bytes."))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise declared.faulty(((key,), f"the file {name} is not UTF-8: save it with that encoding.")) from error


_FORM: Final = Form(
    Declaration,
    _contradictions,
    page="docs/annotation.md",
    example="name: everyday-people",
    inside={
        ("pay",): Pay,
        ("training",): RequiredTraining,
        ("gold",): GoldItems,
        ("panel", "prolific"): ProlificPanel,
        ("panel", "cloudresearch"): CloudResearchPanel,
        ("panel", "generic"): GenericPanel,
    },
)
_TEXTS: Final[Mapping[str, TypeAdapter[str]]] = {
    "instructions": TypeAdapter(Instructions),
    "consent": TypeAdapter(ConsentText),
}
