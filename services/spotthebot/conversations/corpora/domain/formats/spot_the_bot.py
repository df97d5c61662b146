"""The published Spot The Bot dump: MongoDB's JSON Lines, `sampled-dialogues-full-*.json`.

Reads the dialogues of people, or all dialogues. The turns have the order in which the file lists them; `exchange_nr` is
ignored, because it is not a usable index.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spotthebot.conversations.corpora.domain.formats.dialogue_rules import dialogue_of, list_of, object_of, text_of
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome, Skipped


class SpotTheBotLines:
    """Parses conversations of the dump; conversations with a bot are skipped unless requested."""

    def __init__(self, *, bots_too: bool) -> None:
        self._bots_too = bots_too

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one conversation."""
        found = object_of(text)
        turns = list_of(found, "convo")
        if not all(isinstance(turn, dict) for turn in turns):
            raise Fault(reason="a turn of 'convo' is not an object")
        if not self._bots_too and not (found.get("is_human0") is True and found.get("is_human1") is True):
            yield Skipped(number)
            return
        systems = tuple(text_of(found.get(f"system_type{side}"), f"'system_type{side}'") for side in (0, 1))
        for place, turn in enumerate(turns):
            if turn.get("id") != systems[place % 2]:
                raise Fault(reason=f"turn {place + 1} must be by '{systems[place % 2][:60]}': speakers alternate")
        said = [text_of(turn.get("text"), f"turn {place}") for place, turn in enumerate(turns, 1)]
        metadata = {"speakers": list(systems), "domain": found.get("domain_name")}
        yield dialogue_of(number, said, key=_object_id(found), metadata=metadata)

    def end(self) -> Iterable[Outcome]:
        return ()


def _object_id(found: Mapping[str, Any]) -> str:
    match found.get("_id"):
        case {"$oid": str() as key}:
            return key
        case _:
            raise Fault(reason="has no '_id' with an '$oid'")
