"""Exchanges that an annotator opens one after the other, and what they decide on the way.

A decision belongs to the exchanges that were open when it was made: as long as no other one is opened it can be
changed, and from then on it is locked. So nobody decides first, looks on and decides again, and the decision's turn is
known without trust in a frontend.
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
    """What was known of a question when it was answered: how many exchanges were open, and since when the last was."""

    question: str
    target: Target
    exchanges: int
    opened_at: datetime
    decided_at: datetime


def opens_one_by_one(protocol: AnnotationProtocol) -> bool:
    """Whether annotators open one exchange after the other."""
    return protocol.reveal == "exchange_by_exchange"


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
    """Return when each exchange of an item was opened, now the next one too; one that is open stays as it is.

    None is opened before the one that precedes it, though a clock is set back.
    `most` exchanges can be opened. Raises ShownWhole, ExchangeNotNext, AllExchangesOpen, and EverythingDecided where
    the required questions of the first step have their answers, which another exchange could not change.
    """
    if not opens_one_by_one(protocol):
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
    """Return the decisions of an answer that is saved; `before` has those of the draft that it replaces.

    What is answered as before keeps its decision. Raises NoExchangeOpen, and DecisionLocked where an answer changes
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
