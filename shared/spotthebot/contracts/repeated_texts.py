"""Conversations that say what another one says, which count as one."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from uuid import UUID

from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.wire import Wire

MAX_REPEATED = 100
"""Pairs that are named, those with the most repeats first."""


class RepeatedTexts(Wire):
    """Two speakers whose conversations have fewer texts than there are conversations."""

    speakers: tuple[str, str]
    conversations: int
    texts: int

    @property
    def sentence(self) -> str:
        """What to tell readers of a result of these conversations."""
        first, second = self.speakers
        repeats = self.conversations - self.texts
        return (
            f"{repeats} of {self.conversations} conversations of {first} and {second}"
            f" {'repeats' if repeats == 1 else 'repeat'} another one's text: they count as {self.texts}."
        )


def find_repeated_texts(conversations: Iterable[tuple[tuple[str, str], Hashable]]) -> tuple[RepeatedTexts, ...]:
    """Return the speakers whose conversations repeat one another's text, those with the most repeats first.

    Each conversation is its two speakers, in any order, and what stands for its text.
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
    """Return the hash of what the longest segment of each conversation shows, where it is known."""
    segments = [segment for package in packages for segment in package.segments]
    segments.sort(key=lambda segment: segment.exchanges)
    return {each.conversation_id: each.text_hash for each in segments if each.text_hash is not None}
