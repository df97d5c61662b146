"""Scores of bots by dialogue: the mean over a bot's turns comes first, and the mean over its dialogues second."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.fed.score_sets.domain import ScoredContext


@dataclass(frozen=True)
class DialogueScore:
    """A bot's mean scores over its turns in one conversation (Sato et al. 2022, section 5.1), and the mean length.

    `scores` are in the order of the job's dimensions. In self-play both sides are the bot's turns.
    """

    conversation_id: UUID
    bot: str
    text: str
    scores: tuple[float, ...]
    length: float
    contexts: tuple[ScoredContext, ...]


def dialogue_scores(contexts: Iterable[ScoredContext]) -> list[DialogueScore]:
    """Return one score for each conversation and bot, in the order of their first contexts."""
    by_dialogue: dict[tuple[UUID, str], list[ScoredContext]] = defaultdict(list)
    for each in contexts:
        by_dialogue[each.conversation_id, each.bot].append(each)
    return [
        DialogueScore(
            conversation_id=conversation_id,
            bot=bot,
            text=own[0].text,
            scores=mean_scores([each.scores for each in own]),
            length=sum(each.length for each in own) / len(own),
            contexts=tuple(own),
        )
        for (conversation_id, bot), own in by_dialogue.items()
    ]


def mean_scores(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of each column."""
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))
