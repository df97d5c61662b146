"""The suite's format: JSON Lines with one dialogue per line.

`{"turns": [...], "key"?, "split"?, "persona"?: [two texts], "metadata"?: {...}}`. A turn is a text, or an object with
`text` and optionally `speaker`, as in the suite's export of conversations.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spotthebot.conversations.corpora.domain.formats.dialogue_rules import (
    alternating,
    dialogue_of,
    list_of,
    object_of,
    text_of,
)
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome


class OwnLines:
    """Parses the suite's JSON Lines."""

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one dialogue."""
        found = object_of(text)
        turns = list_of(found, "turns")
        said = [text_of(_text(turn), f"turn {place}") for place, turn in enumerate(turns, 1)]
        speakers = [turn["speaker"] for turn in turns if isinstance(turn, dict) and "speaker" in turn]
        if speakers:
            if len(speakers) < len(turns):
                raise Fault(reason="some turns name their speaker and some do not")
            alternating(speakers)
        key, split, metadata = found.get("key"), found.get("split"), found.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            raise Fault(reason="'metadata' is not an object")
        yield dialogue_of(
            number,
            said,
            key=None if key is None else text_of(key, "'key'"),
            split=None if split is None else text_of(split, "'split'"),
            persona=_persona(found),
            metadata=metadata,
        )

    def end(self) -> Iterable[Outcome]:
        return ()


def _text(turn: object) -> object:
    return turn.get("text") if isinstance(turn, dict) else turn


def _persona(found: Mapping[str, Any]) -> tuple[str, str] | None:
    persona = found.get("persona")
    if persona is None:
        return None
    match persona:
        case [str() as first, str() as second]:
            return first, second
        case _:
            raise Fault(reason="'persona' is not a list of two texts, one for each speaker")
