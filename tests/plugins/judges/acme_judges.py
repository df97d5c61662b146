"""A judge: who thanks and greets is probably a person."""

from collections.abc import Sequence

_POLITE = frozenset({"thanks", "thank", "hello", "please", "hi"})


class Politeness:
    """An object with state of its own is a plug-in, too."""

    def __init__(self, polite: frozenset[str]) -> None:
        self._polite = polite

    def human(self, turns: Sequence[tuple[str, str]], side: str) -> float | None:
        """Return how likely the speaker `side` is a person; None if it said nothing."""
        words = [word.strip(".,!?").casefold() for speaker, text in turns if speaker == side for word in text.split()]
        if not words:
            return None
        return 0.8 if self._polite & {*words} else 0.3


POLITENESS = Politeness(_POLITE)
