"""A campaign's file: its keys and those that a task of a study has too, their rules, and the files that it names.

The file refers to resources by name, the API by id. All other fields are the API's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError

from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.panels import CloudResearchPanel, GenericPanel, ProlificPanel
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.contracts.annotation.uploads import PackageIn, SegmentIn, ShownIn
from spotthebot.contracts.annotation.verdicts import StopAtWidth
from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.terms import ConsentText, Currency, Instructions, PayAmount
from spotthebot.contracts.wire import Name, Text, Wire
from spotthebot.kit.text.validation import faults_of, reason_of

_MAX_FILE_BYTES = 1024 * 1024
_MAX_SHOWN = 5
Document = TypeVar("Document", bound=BaseModel)
_EXAMPLES: list[JsonValue] = [
    {
        "name": "everyday-people",
        "collections": ["everyday-1", "everyday-2"],
        "human_share": 0.2,
        "protocol": "spot_the_bot",
        "segments": [2, 3, 5],
        "annotations_per_segment": 2,
        "package_size": 20,
        "packages_per_annotator": 3,
        "lease_minutes": 60,
        "seed": 7,
    }
]
Collection = Annotated[Name, Field(description="Name or id of a complete collection.")]
FileName = Annotated[Text, StringConstraints(min_length=1, max_length=1000)]


class Pay(Wire):
    """The pay of annotators."""

    per_package: PayAmount = Field(description="What an annotator gets for a package.")
    currency: Currency = Field(description="ISO 4217, such as EUR.")


class CampaignTerms(CampaignSettings):
    """What a campaign's file and a task of a study's file both say."""

    protocol: FileName = Field(
        default="spot_the_bot",
        description="What annotators are asked: the name of a protocol, or its document as a file of JSON.",
    )
    protocol_version: int | None = Field(
        default=None, ge=1, lt=2**31, description="Of a protocol named above; without it, the newest version."
    )
    instructions: FileName | None = Field(
        default=None, description="File with the text that annotators read first; its path begins at this file."
    )
    consent: FileName | None = Field(
        default=None, description="File with the text that annotators consent to before they get a package."
    )
    trainings: tuple[FileName, ...] = Field(
        default=(), max_length=10, description="Files of trainings as JSON, which are stored before the campaign."
    )
    packages: tuple[PackageIn, ...] = Field(
        default=(),
        max_length=MAX_BATCH_SIZE,
        description="Packages of one's own instead of drawn ones: what each shows, and how many `annotators` get it.",
    )
    pay: Pay | None = Field(default=None, description="What annotators get; the costs are printed from it.")


class Declaration(CampaignTerms):
    """A campaign of annotation for `./stb campaign`."""

    model_config = ConfigDict(title="Campaign", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the campaign is called; no other campaign has the name.")
    collections: tuple[Collection, ...] = Field(
        min_length=1,
        max_length=MAX_COLLECTIONS,
        description="Whose conversations are shown, each collection once; one that stands in several is taken once.",
    )


@dataclass(frozen=True)
class NamedFiles:
    """The content of the files that a declaration names. `protocol` is None if it names a protocol of the service."""

    protocol: AnnotationProtocol | None
    instructions: str
    consent: str
    trainings: tuple[Training, ...]


@dataclass(frozen=True)
class CampaignDeclared(Declared[Declaration]):
    """A campaign's declaration, with the content of the files that it names."""

    files: NamedFiles


def read_declaration(path: Path) -> CampaignDeclared:
    """Read a campaign's file and the files that it names; raises DeclarationFaulty with the faults of all files."""
    declared = read_declared(path, _FORM)
    return CampaignDeclared(declared.request, declared.file, declared.sha256, read_files(declared))


def read_files(declared: Declared[CampaignTerms]) -> NamedFiles:
    """Read the files that a declaration names; raises DeclarationFaulty with the faults of all of them."""
    faults: list[DeclarationFaulty] = []
    protocol, trainings, texts = None, [], {"instructions": "", "consent": ""}
    try:
        protocol = _read_protocol(declared)
    except DeclarationFaulty as faulty:
        faults.append(faulty)
    for document in declared.request.trainings:
        try:
            trainings.append(_read_document(declared, "trainings", document, Training))
        except DeclarationFaulty as faulty:
            faults.append(faulty)
    for key, name in (("instructions", declared.request.instructions), ("consent", declared.request.consent)):
        try:
            texts[key] = _read_text(declared, key, name)
        except DeclarationFaulty as faulty:
            faults.append(faulty)
    if faults:
        raise DeclarationFaulty(declared.file.path, [fault for faulty in faults for fault in faulty.faults])
    return NamedFiles(protocol, **texts, trainings=tuple(trainings))


def in_document(name: str, pointer: str, reason: str) -> str:
    """Return the message of a fault in a document: the document's name, the fault's place and the reason."""
    return f"{name}{pointer and f', {pointer}'}: {reason}"


def _contradictions(request: Declaration) -> Contradictions:
    yield from named_twice("collections", request.collections)
    yield from beside_packages(request)


def beside_packages(request: CampaignTerms) -> Contradictions:
    """Yield the places of keys that say how packages are drawn, if the file lists them, and of packages named twice."""
    if not request.packages:
        return
    for key in ("human_share", "pairs", "units_twice"):
        if key in request.model_fields_set:
            yield (key,), "the listed packages say what they show and who sees it: leave this key out."
    names = [each.external_id for each in request.packages]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("packages", number, "external_id"), f"another package is called '{name}': name each differently."


def named_twice(key: str, collections: Sequence[str]) -> Contradictions:
    """Yield the place of each collection that a list below this key names again."""
    for number, name in enumerate(collections):
        if name in collections[:number]:
            yield (key, number), f"'{name}' is named twice: name each collection once."


def _read_protocol(declared: Declared[CampaignTerms]) -> AnnotationProtocol | None:
    name = declared.request.protocol
    if "." not in name and "/" not in name:
        return None
    if declared.request.protocol_version is not None:
        raise declared.faulty((("protocol_version",), f"the file {name} states its version: leave this key out."))
    return _read_document(declared, "protocol", name, AnnotationProtocol)


def _read_document(declared: Declared[CampaignTerms], key: str, name: str, kind: type[Document]) -> Document:
    """Read a JSON file as a document of this kind; raises DeclarationFaulty with its first faults."""
    content = _read(declared, key, name)
    try:
        return kind.model_validate(json.loads(content))
    except ValidationError as error:
        faults = [("".join(f"/{part}" for part in each["loc"]), f"{reason_of(each)}.") for each in error.errors()]
    except (ValueError, RecursionError) as error:
        faults = [("", f"not JSON: {error}.")]
    raise declared.faulty(*(((key,), in_document(name, at, why)) for at, why in faults[:_MAX_SHOWN]))


def _read_text(declared: Declared[CampaignTerms], key: str, name: str | None) -> str:
    """Read a file with a text for annotators; "" if the declaration names no file."""
    if name is None:
        return ""
    text = _read(declared, key, name)
    try:
        checked: str = _TEXTS[key].validate_python(text)
    except ValidationError as error:
        reason = "; ".join(faults_of(error))
        raise declared.faulty(((key,), f"{name}: {reason}.")) from error
    return checked


def _read(declared: Declared[CampaignTerms], key: str, name: str) -> str:
    """Read a file as text. Its path is relative to the declaration's folder."""
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


OBJECTS: Final[Mapping[Place, type[BaseModel]]] = {
    ("pay",): Pay,
    ("training",): RequiredTraining,
    ("gold",): GoldItems,
    ("stop_when",): StopAtWidth,
    ("panel", "prolific"): ProlificPanel,
    ("panel", "cloudresearch"): CloudResearchPanel,
    ("panel", "generic"): GenericPanel,
    ("packages",): PackageIn,
    ("packages", "segments"): SegmentIn,
    ("packages", "segments", "right"): ShownIn,
}
"""The models of the objects in a campaign's declaration."""
_FORM: Final = Form(
    Declaration,
    _contradictions,
    page='"Run a campaign" in the documentation',
    example="name: everyday-people",
    inside=OBJECTS,
)
_TEXTS: Final[Mapping[str, TypeAdapter[str]]] = {
    "instructions": TypeAdapter(Instructions),
    "consent": TypeAdapter(ConsentText),
}
