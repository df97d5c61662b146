"""What a row of the published data says, in our terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from spotthebot.contracts.annotation.annotations import Label

Kind: TypeAlias = Literal["human", "bot"]
Feature: TypeAlias = Literal["fluency", "sensibleness", "specificity"]
Side: TypeAlias = Literal[0, 1]


@dataclass(frozen=True)
class Rejected:
    """A row that could not be read, or that contradicts an earlier one; lines count from 1.

    `bots` are those that the row is about, where it names any; `rows` counts the rows that fall with it.
    """

    file: str
    line: int
    reason: str
    bots: tuple[str, ...] = ()
    rows: int = 1

    @property
    def summary(self) -> dict[str, str | int]:
        """The form that `--json` writes."""
        return {"file": self.file, "line": self.line, "reason": self.reason}


@dataclass(frozen=True)
class DumpParticipant:
    """Who spoke: `name` is the paper's abbreviation, `system` the name of the model as exported.

    A system that the paper does not abbreviate keeps its type as its name. One participant may come
    under several systems: in Empathetic, GPT has two.
    """

    kind: Kind
    name: str
    system: str


class DumpTurn(NamedTuple):
    """One utterance, possibly an empty one, by the participant of that position."""

    speaker: Side
    text: str


@dataclass(frozen=True)
class DumpConversation:
    """A conversation whose two participants alternate, the first of them first."""

    external_id: str
    domain: str
    participants: tuple[DumpParticipant, DumpParticipant]
    turns: tuple[DumpTurn, ...]


class DumpSegment(NamedTuple):
    """The first `turns_shown` turns of a conversation: an even number, two for each exchange."""

    conversation: str
    turns_shown: int


@dataclass(frozen=True)
class DumpPackage:
    """Segments that were annotated in one sitting, each of another conversation."""

    external_id: str
    segments: tuple[DumpSegment, ...]


@dataclass(frozen=True)
class DumpAnnotation:
    """What one annotator said of one segment of one package.

    `labels` are those of the first and the second participant; a preference is the position of the
    better one, None for a tie. Times are in milliseconds since 1970; `started_at_ms` is None where the
    export holds -1, and `elapsed_ms`, kept as exported, is meaningless there. Annotators may be authors
    who tried things out ('test', 'Annotator1'), and one annotator may annotate one segment twice.
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
