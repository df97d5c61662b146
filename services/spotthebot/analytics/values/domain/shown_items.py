"""What an annotator saw: one conversation, or two side by side, and whom an answer about each side is about."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.contracts.annotation.measures import ShownTurns

SIDES = "AB"


class ShownSide(NamedTuple):
    """One side of an item: its conversation, a key of the text, and the bot, if the side has one bot.

    `turn` is the side itself if both speakers of the conversation have one name, otherwise empty.
    """

    conversation: str
    text: Hashable
    bot: str | None
    turn: str


class ShownItem(NamedTuple):
    """An item with a name of its own, its two sides, and the two bots that a preference about it compares, if any."""

    name: str
    sides: Mapping[str, ShownSide]
    opponents: tuple[str, str] | None
    turns: ShownTurns | None

    @classmethod
    def of(
        cls,
        conversations: Sequence[str],
        texts: Sequence[Hashable],
        speakers: Sequence[tuple[str, str]],
        turns: ShownTurns | None,
    ) -> "ShownItem":
        """Return an item of one conversation, whose speakers are its sides, or of two, which are the sides."""
        if len(conversations) == 1:
            bots: tuple[str | None, str | None] = speakers[0]
        else:
            bots = _only_bot(speakers[0]), _only_bot(speakers[1])
        sides = {}
        for at, side in enumerate(SIDES):
            own = min(at, len(conversations) - 1)
            first, second = speakers[own]
            sides[side] = ShownSide(conversations[own], texts[own], bots[at], side if first == second else "")
        return cls("+".join(conversations), sides, _opponents(speakers), turns)


def _only_bot(speakers: tuple[str, str]) -> str | None:
    bots = {name for name in speakers if name != HUMAN}
    return bots.pop() if len(bots) == 1 else None


def _opponents(speakers: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the two bots that a preference compares: the two speakers, or the two bots in which two dialogues differ.

    Return None if there are no such two bots. People are not compared, and no bot is compared with itself.
    """
    if len(speakers) == 1:
        first, second = speakers[0]
        found = [(first, second)]
    else:
        left, right = ({name for name in both if name != HUMAN} for both in speakers)
        found = [(one, other) for one in left - right for other in right - left]
    if len(found) != 1 or HUMAN in found[0] or len(set(found[0])) == 1:
        return None
    return found[0]
