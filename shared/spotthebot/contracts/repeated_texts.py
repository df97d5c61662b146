"""Conversations that repeat the text of another conversation. Results count such conversations as one."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from uuid import UUID

from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.contracts.wire import Wire

MAX_REPEATED = 100
"""The limit of listed pairs; the pairs with the most repeats come first."""


class RepeatedTexts(Wire):
    """Two speakers whose conversations repeat texts: the number of their conversations, and of different texts."""

    speakers: tuple[str, str]
    conversations: int
    texts: int

    @property
    def sentence(self) -> str:
        """Return a warning about the repeated texts, for readers of a result that includes these conversations."""
        first, second = ("people" if each == HUMAN_NAME else each for each in self.speakers)
        repeats = self.conversations - self.texts
        between = "between people" if first == second == "people" else f"of {first} and {second}"
        return (
            f"{repeats} of {self.conversations} conversations {between}"
            f" {'repeats' if repeats == 1 else 'repeat'} another one's text: as clusters they count as {self.texts}."
        )


def find_repeated_texts(conversations: Iterable[tuple[tuple[str, str], Hashable]]) -> tuple[RepeatedTexts, ...]:
    """Return the pairs of speakers whose conversations repeat texts. The pair with the most repeats is first.

    Each conversation is given as its two speakers, in any order, and a value that identifies its text.
    """
    counts: Counter[tuple[str, str]] = Counter()
    texts: defaultdict[tuple[str, str], set[Hashable]] = defaultdict(set)
    for (first, second), text in conversations:
        pair = min(first, second), max(first, second)
        counts[pair] += 1
        texts[pair].add(text)
    found = [
        RepeatedTexts(speakers=pair, conversations=count, texts=len(texts[pair]))
        for pair, count in counts.items()
        if len(texts[pair]) < count
    ]
    found.sort(key=lambda each: (each.texts - each.conversations, each.speakers))
    return tuple(found[:MAX_REPEATED])


def shown_texts(packages: Iterable[PackageOut]) -> dict[UUID, str]:
    """Return a hash of the text of each conversation.

    It is taken from the conversation's longest segment in the packages.

    Conversations without a known hash are left out.
    """
    segments = [segment for package in packages for segment in package.segments]
    segments.sort(key=lambda segment: segment.exchanges)
    return {each.conversation_id: each.text_hash for each in segments if each.text_hash is not None}
