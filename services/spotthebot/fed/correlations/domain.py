"""Scores beside people's ratings: of a bot's turn, of a bot in a conversation, or of a bot."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from uuid import UUID

from spotthebot.fed.dialogue_scores.domain import dialogue_scores, mean_scores
from spotthebot.fed.ratings.domain import Rating
from spotthebot.fed.score_sets.domain import ScoredContext


@dataclass
class RatedItem:
    """A rated turn of a bot, a bot in one conversation, or a bot in all its conversations.

    It has the mean score of each dimension, the mean length, and the ratings by annotator. `cluster` is the cluster of
    the conversation (`clusters_of`). For a bot in all conversations, the bot itself is the cluster.
    """

    cluster: str
    bot: str
    scores: Sequence[float]
    length: float
    ratings: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def annotator_means(self) -> Mapping[str, float]:
        return {annotator: sum(own) / len(own) for annotator, own in self.ratings.items()}


def clusters_of(contexts: Iterable[ScoredContext], shown: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return the cluster of each conversation. Conversations with the same whole or shown text share a cluster.

    Two conversations with the same whole text have the same scores. Annotators see the part in `shown`; two different
    texts may have the same part.
    """
    leader: dict[str, str] = {}

    def lead(text: str) -> str:
        while (above := leader.setdefault(text, text)) != text:
            leader[text] = leader[above]
            text = above
        return text

    texts = {each.conversation_id: each.text for each in contexts}
    for conversation, text in texts.items():
        if conversation in shown:
            leader[lead(text)] = lead(f"shown {shown[conversation]}")
    return {conversation: lead(text) for conversation, text in texts.items()}


def rated_in_turns(
    contexts: Iterable[ScoredContext], ratings: Iterable[Rating], clusters: Mapping[UUID, str]
) -> list[RatedItem]:
    """Return the turns that were scored and rated, with the score of the context that ends with the turn."""
    items = {
        (each.conversation_id, each.turn): RatedItem(clusters[each.conversation_id], each.bot, each.scores, each.length)
        for each in contexts
    }
    for rating in ratings:
        item = None if rating.end is None else items.get((rating.conversation_id, rating.end))
        if item is not None:
            item.ratings[rating.annotator].append(rating.value)
    return [item for item in items.values() if item.ratings]


def rated_in_dialogues(
    contexts: Iterable[ScoredContext], ratings: Iterable[Rating], clusters: Mapping[UUID, str]
) -> list[RatedItem]:
    """Return the bots that were scored and rated, one item for each conversation and bot."""
    items = {
        (each.conversation_id, each.bot): RatedItem(clusters[each.conversation_id], each.bot, each.scores, each.length)
        for each in dialogue_scores(contexts)
    }
    for rating in ratings:
        item = items.get((rating.conversation_id, rating.bot))
        if item is not None:
            item.ratings[rating.annotator].append(rating.value)
    return [item for item in items.values() if item.ratings]


def rated_as_systems(items: Sequence[RatedItem]) -> list[RatedItem]:
    """Return one item for each bot: the means over its dialogues."""
    systems = []
    for bot, members in groupby(sorted(items, key=lambda item: item.bot), key=lambda item: item.bot):
        own = list(members)
        system = RatedItem(
            bot, bot, mean_scores([each.scores for each in own]), sum(each.length for each in own) / len(own)
        )
        for item in own:
            for annotator, ratings in item.ratings.items():
                system.ratings[annotator] += ratings
        systems.append(system)
    return systems
