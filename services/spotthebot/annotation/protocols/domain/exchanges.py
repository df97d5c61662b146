"""Exchanges that an annotator opens one by one, and the decisions made on the way.

A decision belongs to the exchanges that were open when it was made. The decision can be changed until another exchange
is opened, which locks the decision. So nobody can decide, read on and decide again, and the turn of a decision is known
without trusting a frontend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spotthebot.annotation.protocols.domain.answers import answered_questions, missing
from spotthebot.annotation.protocols.domain.questions import Target, UnitShape
from spotthebot.annotation.protocols.errors import (
    AllExchangesOpen,
    DecisionLocked,
    EverythingDecided,
    ExchangeNotNext,
    NoExchangeOpen,
    ShownWhole,
)
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol


@dataclass(frozen=True)
class Decision:
    """The state of an item when a question was answered: how many exchanges were open, and since when."""

    question: str
    target: Target
    exchanges: int
    opened_at: datetime
    decided_at: datetime


def open_exchange(
    protocol: AnnotationProtocol,
    shape: UnitShape,
    answer: Answer,
    opened_at: Sequence[datetime],
    exchange: int,
    *,
    most: int,
    now: datetime,
) -> tuple[datetime, ...]:
    """Open the next exchange of an item, and return the opening times; for an open exchange, nothing changes.

    Opening times never decrease, even if a clock is set back. At most `most` exchanges can be opened. Raises
    ShownWhole, ExchangeNotNext, AllExchangesOpen, and EverythingDecided if the required questions of the first step are
    answered, so that another exchange could change nothing.
    """
    if not protocol.opens_one_by_one:
        raise ShownWhole(protocol=protocol.name)
    opened = len(opened_at)
    if exchange <= opened:
        return tuple(opened_at)
    if exchange > opened + 1:
        raise ExchangeNotNext(exchange=exchange, next=opened + 1)
    if exchange > most:
        raise AllExchangesOpen(exchanges=most)
    if answer and not missing(protocol, shape, answer, protocol.steps[0].id):
        raise EverythingDecided
    return (*opened_at, max([now, *opened_at[-1:]]))


def decide(
    protocol: AnnotationProtocol,
    shape: UnitShape,
    before: tuple[Answer, Sequence[Decision]],
    answer: Answer,
    opened_at: Sequence[datetime],
    now: datetime,
) -> tuple[Decision, ...]:
    """Return the decisions of an answer that is saved; `before` is the earlier answer with its decisions.

    An unchanged answer keeps its decision. Raises NoExchangeOpen. Raises DecisionLocked if the answer changes a value
    that was given before the last exchange was opened.
    """
    opened = len(opened_at)
    if answer and not opened:
        raise NoExchangeOpen
    draft, decisions = before
    known = {(each.question, each.target): each for each in decisions}
    was = answered_questions(protocol, shape, draft)
    given = answered_questions(protocol, shape, answer)
    for key, decision in known.items():
        if decision.exchanges < opened and (key not in given or given[key] != was[key]):
            side = "" if decision.target is None else f" of {decision.target}"
            raise DecisionLocked(question=decision.question, side=side, exchanges=decision.exchanges)
    return tuple(
        known[key]
        if key in known and was[key] == value
        else Decision(*key, opened, opened_at[-1], max(now, opened_at[-1]))
        for key, value in given.items()
    )
