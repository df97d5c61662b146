"""The content of a conversation's page: its turns, its annotations, and the places where annotators decided."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.fed.score_jobs import ContextScoresOut

SIDES: Final = ("A", "B")


@dataclass(frozen=True)
class Votes:
    """The counts of annotators' answers to one question about one side, at one mark."""

    question: str
    side: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Mark:
    """A place in the conversation. Annotators decided there, after `exchanges` exchanges."""

    exchanges: int
    annotators: int
    votes: Sequence[Votes]


@dataclass(frozen=True)
class Bubble:
    """A turn on the page; `mark` is shown below it."""

    side: str
    text: str
    number: int | None = None
    """The number of the turn, counted from 1; None in the opening."""
    raw: str | None = None
    latency_ms: float | None = None
    said_at: datetime | None = None
    is_profane: bool = False
    personal_data: Sequence[str] = ()
    mark: Mark | None = None


@dataclass(frozen=True)
class Value:
    """One value of an answer. `target` is a side, the position of a turn, or None for the whole conversation."""

    question: str
    target: str | None
    value: str


@dataclass(frozen=True)
class Column:
    """The heading of a column of values: a question, with the side or the turn that it is about. Turns count from 1."""

    question: str
    side: str | None = None
    turn: int | None = None
    of_opening: bool = False
    """Whether the turn belongs to the opening. Turns of the opening are counted separately."""


@dataclass(frozen=True)
class AnnotationRow:
    """An annotation of the conversation. `is_right` says that the conversation was the right one of a pair."""

    annotator: str
    exchanges: int
    is_right: bool
    seconds: float | None
    values: Mapping[Column, str]


@dataclass(frozen=True)
class AnnotationTable:
    """A campaign's annotations of the conversation, with a column for each question and side."""

    columns: Sequence[Column]
    rows: Sequence[AnnotationRow]


@dataclass(frozen=True)
class ScoreRow:
    """A score on one dimension, and the baseline: the score predicted from the length of the context alone."""

    dimension: str
    score: float
    baseline: float | None

    @property
    def beyond(self) -> float | None:
        """The score minus the baseline, rounded to two decimals. A zero has no sign."""
        return None if self.baseline is None else round(self.score - self.baseline, 2) + 0.0


@dataclass(frozen=True)
class BotScores:
    """The scores of a bot after its last scored turn. `earlier` has the scores after each turn before."""

    bot: str
    turn: int
    rows: Sequence[ScoreRow]
    earlier: Sequence["BotScores"] = field(default=())


def bubbles(conversation: ExportedConversation, annotations: Iterable[tuple[AnnotationOut, bool]]) -> list[Bubble]:
    """Return the bubbles of the opening and of the turns.

    Each annotation comes with a flag: whether the conversation was the right one of a pair.
    """
    opening = [Bubble(side=turn.speaker, text=turn.text) for turn in conversation.opening]
    flags = conversation.quality_flags
    profane = set(flags.profanity) if flags else set()
    personal: defaultdict[int, list[str]] = defaultdict(list)
    for found in flags.personal_data if flags else ():
        personal[found.position].append(found.kind)
    marked = _marks(annotations, last=len(conversation.turns))
    return opening + [
        Bubble(
            side=turn.speaker,
            text=turn.text,
            number=position + 1,
            raw=turn.raw,
            latency_ms=turn.latency_ms,
            said_at=turn.said_at,
            is_profane=position in profane,
            personal_data=sorted(set(personal[position])),
            mark=marked.get(position),
        )
        for position, turn in enumerate(conversation.turns)
    ]


def annotation_table(annotations: Iterable[tuple[AnnotationOut, bool]], *, shown_opening: int = 0) -> AnnotationTable:
    """Return a campaign's annotations as a table, ordered by the number of exchanges that annotators had read.

    Annotators saw `shown_opening` turns of the opening first. Positions in their answers count from 0 and include these
    turns.
    """
    found = [
        AnnotationRow(
            annotator=each.annotator,
            exchanges=_shown(each, is_right=is_right),
            is_right=is_right,
            seconds=None if each.elapsed_ms is None else each.elapsed_ms / 1000,
            values={_column(value, shown_opening): value.value for value in values_of(each.answer)},
        )
        for each, is_right in annotations
    ]
    rows = sorted(found, key=lambda row: row.exchanges)
    columns = dict.fromkeys(column for row in rows for column in row.values)
    return AnnotationTable(columns=[*columns], rows=rows)


def values_of(answer: Mapping[str, Any]) -> Iterator[Value]:
    """Yield the values of an answer, by any protocol."""
    for question, given in answer.items():
        if isinstance(given, Mapping):
            for target, value in given.items():
                yield Value(question, str(target), _said(value))
        else:
            yield Value(question, None, _said(given))


def scores_by_bot(contexts: Iterable[ContextScoresOut], *, opening: int = 0) -> list[BotScores]:
    """Return the scores of each bot after its last turn, and the scores after its earlier turns.

    FED counts the `opening` turns as turns, and the page counts them separately: so `opening` is subtracted.
    """
    by_bot: defaultdict[str, list[BotScores]] = defaultdict(list)
    for each in sorted(contexts, key=lambda context: context.turn):
        rows = [ScoreRow(name, score, each.length_baselines.get(name)) for name, score in each.scores.items()]
        by_bot[each.bot].append(BotScores(each.bot, each.turn - opening, rows))
    return [BotScores(bot, last.turn, last.rows, earlier) for bot, (*earlier, last) in sorted(by_bot.items())]


def widest(bots: Iterable[BotScores]) -> float:
    """Return the largest difference between a score and its baseline: all bars are drawn on this scale."""
    return max((abs(row.beyond) for each in bots for row in each.rows if row.beyond is not None), default=0.0)


def _marks(annotations: Iterable[tuple[AnnotationOut, bool]], *, last: int) -> dict[int, Mark]:
    """Return marks by the position of the turn below which they are shown."""
    annotators: defaultdict[int, set[object]] = defaultdict(set)
    votes: defaultdict[int, defaultdict[tuple[str, str], Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for each, is_right in annotations:
        decided = {(made.question, made.target): made.exchanges for made in each.decisions}
        whole = _shown(each, is_right=is_right)
        if not decided:
            annotators[whole].add(each.id)
        for value in values_of(each.answer):
            exchanges = decided.get((value.question, value.target), whole)
            annotators[exchanges].add(each.id)
            if value.target in SIDES:
                votes[exchanges][value.question, str(value.target)][value.value] += 1
    return {
        min(2 * exchanges, last) - 1: Mark(
            exchanges=exchanges,
            annotators=len(by),
            votes=[
                Votes(question, side, dict(counts.most_common()))
                for (question, side), counts in sorted(votes[exchanges].items())
            ],
        )
        for exchanges, by in sorted(annotators.items())
        if last
    }


def _column(value: Value, shown_opening: int) -> Column:
    if value.target is None or not value.target.isdecimal():
        return Column(value.question, side=value.target)
    place = int(value.target)
    is_opening = place < shown_opening
    return Column(value.question, turn=1 + place - (0 if is_opening else shown_opening), of_opening=is_opening)


def _shown(annotation: AnnotationOut, *, is_right: bool) -> int:
    return annotation.right.exchanges if is_right and annotation.right else annotation.exchanges


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return "" if value is None else str(value)


def pieces(said: str, text: str | None) -> list[str]:
    """Split what was said at each place of the searched text, in any case: every second piece is the text itself.

    >>> pieces("Tea? No tea.", "tea")
    ['', 'Tea', '? No ', 'tea', '.']
    """
    return re.split(f"({re.escape(text)})", said, flags=re.IGNORECASE) if text else [said]


@dataclass(frozen=True)
class Excerpt:
    """A part of a turn around the text `match` of a search. `match` is empty if no text was searched for or found."""

    before: str
    match: str
    after: str


def excerpt(turns: list[str], text: str | None, *, longest: int = 180) -> Excerpt:
    """Return the part of the first turn that contains the text.

    If no turn contains it, return the start of the first turn.
    """
    for turn in turns if text else ():
        at = turn.lower().find(str(text).lower())
        if at >= 0:
            start, end = max(0, at - longest // 3), at + len(str(text))
            before = ("…" if start else "") + turn[start:at]
            after = turn[end : start + longest] + ("…" if len(turn) > start + longest else "")
            return Excerpt(before, turn[at:end], after)
    first = turns[0] if turns else ""
    return Excerpt(first[:longest] + ("…" if len(first) > longest else ""), "", "")
