"""Records of the published data in our terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from spotthebot.contracts.annotation.annotations import Feature, Label

Kind: TypeAlias = Literal["human", "bot"]
Side: TypeAlias = Literal[0, 1]


@dataclass(frozen=True)
class DumpParticipant:
    """A speaker: `name` is the paper's abbreviation, `system` is the model's name in the published files.

    If the paper has no abbreviation, `name` is the type of the system. One participant may have several systems: in
    Empathetic, GPT has two.
    """

    kind: Kind
    name: str
    system: str


class DumpTurn(NamedTuple):
    """One utterance, possibly empty; `speaker` tells which of the two participants spoke."""

    speaker: Side
    text: str


@dataclass(frozen=True)
class DumpConversation:
    """A conversation in which two participants alternate, beginning with the first."""

    external_id: str
    domain: str
    participants: tuple[DumpParticipant, DumpParticipant]
    turns: tuple[DumpTurn, ...]


class DumpSegment(NamedTuple):
    """The first `turns_shown` turns of a conversation. Their number is even, because an exchange is two turns."""

    conversation: str
    turns_shown: int


@dataclass(frozen=True)
class DumpPackage:
    """Segments that were annotated in one sitting; no two of them are from the same conversation."""

    external_id: str
    segments: tuple[DumpSegment, ...]


@dataclass(frozen=True)
class DumpAnnotation:
    """An annotation by one annotator of one segment of one package.

    `labels` are for the first and the second participant. A preference is the position of the preferred participant,
    None for a tie. Times are in milliseconds since 1970. If the export holds -1, `started_at_ms` is None, and
    `elapsed_ms`, kept as exported, is meaningless. Some annotators are authors making tests ('test', 'Annotator1'), and
    one annotator may annotate one segment twice.
    """

    external_id: str
    conversation: str
    package: str
    annotator: str
    turns_shown: int
    labels: tuple[Label, Label]
    preferences: Mapping[Feature, Side | None]
    started_at_ms: int | None
    ended_at_ms: int
    elapsed_ms: int
    completion_code: str
