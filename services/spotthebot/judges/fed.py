"""The judge `fed`: the place of a side's score among all scores of its set, as P(human). It is a baseline.

The score of a side is that of its last turn that annotators see, less the part that its length alone predicts. No label
is used, so the probabilities order sides and are not calibrated. Sides without a score, such as people, are missing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from uuid import UUID

from spotthebot.clients import AsyncAnnotation, AsyncFed, NotFound
from spotthebot.contracts.annotation.judges import FedJudge
from spotthebot.contracts.turns import Turn
from spotthebot.judges.errors import ScoresUnsuited
from spotthebot.kit.text.words import known_text_hash


class FedScores:
    """Scores by conversation and number of turns, and the conversations by the text that annotators see."""

    def __init__(self, scores: Mapping[tuple[UUID, int], float], conversations: Mapping[str, UUID]) -> None:
        self._scores = scores
        self._conversations = conversations
        self._sorted = sorted(scores.values())

    def of_side(self, turns: Sequence[Turn], side: str) -> float | None:
        """Return the share of the set's scores below the side's, of equal scores half; None without a score."""
        text = known_text_hash([turn.text for turn in turns])
        conversation = None if text is None else self._conversations.get(text.hex())
        last = max((at for at, turn in enumerate(turns, 1) if turn.speaker == side), default=None)
        if conversation is None or last is None:
            return None
        score = self._scores.get((conversation, last))
        if score is None:
            return None
        below, until = bisect_left(self._sorted, score), bisect_right(self._sorted, score)
        return (below + until) / 2 / len(self._sorted)


async def read_scores(fed: AsyncFed, annotation: AsyncAnnotation, campaign_id: UUID, settings: FedJudge) -> FedScores:
    """Read a score set, and which conversations a campaign shows.

    Raises ScoresUnsuited if the set is not there, lacks the dimension, or has no score of these conversations.
    """
    conversations = {
        segment.text_hash: segment.conversation_id
        async for package in annotation.list_packages(campaign_id)
        for segment in package.segments
        if segment.text_hash is not None
    }
    scores: dict[tuple[UUID, int], float] = {}
    try:
        async for each in fed.list_scores(settings.score_set, page_size=1000):
            if settings.dimension not in each.scores:
                raise ScoresUnsuited(
                    score_set=settings.score_set, reason=f"it has no dimension '{settings.dimension}'."
                )
            baseline = each.length_baselines.get(settings.dimension) if settings.controls_length else None
            scores[each.conversation_id, each.turn] = each.scores[settings.dimension] - (baseline or 0.0)
    except NotFound as missing:
        raise ScoresUnsuited(score_set=settings.score_set, reason="the service `fed` does not know it.") from missing
    if not {conversation for conversation, _ in scores} & set(conversations.values()):
        raise ScoresUnsuited(score_set=settings.score_set, reason="it scores no conversation that the campaign shows.")
    return FedScores(scores, conversations)
