"""Dialogues to be scored, and the faults for which FED refuses a dialogue."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from spotthebot.fed.dialogues.errors import DialogueUnusable

MAX_TURNS: Final = 1_000
MAX_CHARACTERS: Final = 200_000
"""The limit of characters in all turns: some 50,000 tokens, more than any scorer reads."""
MAX_ID_CHARACTERS: Final = 200


class Level(StrEnum):
    """What one rating is about: one turn in its context, or the whole dialogue."""

    TURN = "turn"
    DIALOGUE = "dialogue"


@dataclass(frozen=True)
class Turn:
    """One utterance of a speaker."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Dialogue:
    """A dialogue of at least two turns, oldest first; raises DialogueUnusable."""

    id: str
    turns: tuple[Turn, ...]

    def __post_init__(self) -> None:
        if fault := self._broken_text() or self._fault():
            raise DialogueUnusable(reason=fault)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(turn.text for turn in self.turns)

    def ends(self, level: Level, speaker: str | None = None) -> tuple[int, ...]:
        """Return the turns to score, counted from 1: every reply, or only the last one.

        With a `speaker`, only this speaker's replies count. Raises DialogueUnusable if there is none.
        """
        spoken = [number for number, turn in enumerate(self.turns, start=1) if speaker in {None, turn.speaker}]
        ends = [number for number in spoken if number > 1]
        if not ends:
            reason = f"the speaker '{speaker}' never answers" if spoken else f"the speaker '{speaker}' never talks"
            raise DialogueUnusable(reason=reason)
        return tuple(ends) if level is Level.TURN else (ends[-1],)

    def _broken_text(self) -> str | None:
        texts = {"its id": self.id}
        for number, turn in enumerate(self.turns, start=1):
            texts |= {f"the {name} of turn {number}": value for name, value in vars(turn).items()}
        return next(
            (f"{name} has half a surrogate pair" for name, text in texts.items() if has_half_a_character(text)), None
        )

    def _fault(self) -> str | None:
        if not self.turns:
            return "it has no turns"
        if len(self.turns) == 1:
            return "it has one turn, which nobody answers"
        if len(self.turns) > MAX_TURNS:
            return f"it has {len(self.turns):,} turns: at most {MAX_TURNS:,} are accepted"
        characters = sum(map(len, self.texts))
        if characters > MAX_CHARACTERS:
            return f"it has {characters:,} characters: at most {MAX_CHARACTERS:,} are accepted (no model reads more)"
        talking = {turn.speaker for turn in self.turns if turn.text.strip()}
        silent = [turn.speaker for turn in self.turns if turn.speaker not in talking]
        return f"the speaker '{silent[0]}' never says anything" if silent else None


def has_half_a_character(text: str) -> bool:
    """Return whether a text contains half of a surrogate pair.

    JSON can express such a half, but no file, screen or model accepts it.
    """
    return any("\ud800" <= character <= "\udfff" for character in text)


def parse_dialogue(document: object) -> Dialogue:
    """Read `{"id": ..., "turns": [{"speaker": ..., "text": ...}]}`; raises DialogueUnusable.

    An id is a text or a whole number.
    """
    fields = _object(document, "it", ("id", "turns"))
    identity = fields["id"]
    if isinstance(identity, bool) or not isinstance(identity, str | int) or not str(identity).strip():
        raise DialogueUnusable(reason="its id is neither a text nor a whole number")
    if len(str(identity)) > MAX_ID_CHARACTERS:
        raise DialogueUnusable(reason=f"its id is longer than {MAX_ID_CHARACTERS} characters")
    if not isinstance(fields["turns"], list):
        raise DialogueUnusable(reason="its turns are not a list")
    turns = tuple(_turn(each, number) for number, each in enumerate(fields["turns"], start=1))
    return Dialogue(str(identity), turns)


def _turn(document: object, number: int) -> Turn:
    fields = _object(document, f"turn {number}", ("speaker", "text"))
    for name, value in fields.items():
        if not isinstance(value, str):
            raise DialogueUnusable(reason=f"the {name} of turn {number} is not a text")
    return Turn(fields["speaker"], fields["text"])


def _object(document: object, what: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise DialogueUnusable(reason=f"{what} is not a JSON object")
    if missing := [name for name in names if name not in document]:
        raise DialogueUnusable(reason=f"{what} has no '{missing[0]}'")
    if unknown := sorted(set(document) - set(names)):
        name = str(unknown[0])[:60].encode(errors="replace").decode()
        raise DialogueUnusable(reason=f"{what} has the unknown key '{name}'")
    return document
