"""Exchanges that are opened and decided one by one, at their bounds: what is refused, and what the refusal says."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spotthebot.annotation.assignments.domain.answers import shape_of
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.exchanges import Decision, decide, open_exchange
from spotthebot.annotation.protocols.errors import (
    AllExchangesOpen,
    DecisionLocked,
    EverythingDecided,
    ExchangeNotNext,
    ShownWhole,
)
from tests.factories import annotating

NOW = datetime(2026, 1, 1, 12, 30, 15, 250_000, tzinfo=UTC)
STEPS = built_in_protocols()["spot_the_bot", 1]
EXCHANGES = built_in_protocols()["spot_the_bot_gamified", 1]
SHAPE = shape_of("ABAB", is_pair=False)
DECISION: dict[str, Any] = annotating.DECISION
SAID = DECISION["entity"]


def _at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def _opened(opened: int, exchange: int, answer: dict[str, Any] | None = None) -> tuple[datetime, ...]:
    before = [_at(each) for each in range(opened)]
    return open_exchange(EXCHANGES, SHAPE, answer or {}, before, exchange, most=2, now=_at(9))


class TestOpenExchange:
    def test_opens_the_next_one_and_leaves_those_that_are_open(self):
        assert _opened(0, 1) == (_at(9),)
        assert _opened(1, 2) == (_at(0), _at(9))
        assert _opened(2, 1) == _opened(2, 2) == (_at(0), _at(1))

    def test_says_which_one_is_next_and_how_many_there_are(self):
        with pytest.raises(ExchangeNotNext, match=r"Exchange 3 .* open exchange 2 first"):
            _opened(1, 3)
        with pytest.raises(AllExchangesOpen, match="All 2 exchanges"):
            _opened(2, 3)

    def test_opens_nothing_once_all_is_decided_or_where_items_are_shown_whole(self):
        assert len(_opened(1, 2, {"entity": {"A": "human"}})) == 2
        with pytest.raises(EverythingDecided):
            _opened(1, 2, DECISION)
        with pytest.raises(ShownWhole, match=STEPS.name):
            open_exchange(STEPS, SHAPE, {}, [], 1, most=2, now=NOW)


class TestDecide:
    def test_keeps_the_exchanges_and_times_of_what_was_said_before(self):
        first = decide(EXCHANGES, SHAPE, ({}, ()), {"entity": {"A": "human"}}, [_at(0)], _at(1))
        assert first == (Decision("entity", "A", 1, _at(0), _at(1)),)
        second = decide(EXCHANGES, SHAPE, ({"entity": {"A": "human"}}, first), DECISION, [_at(0), _at(2)], _at(3))
        assert second == (*first, Decision("entity", "B", 2, _at(2), _at(3)))
        again = decide(
            EXCHANGES, SHAPE, (DECISION, second), {"entity": SAID | {"B": "human"}}, [_at(0), _at(2)], _at(4)
        )
        assert again == (*first, Decision("entity", "B", 2, _at(2), _at(4)))

    @pytest.mark.parametrize("answer", [{"entity": {"A": "bot"}}, {}])
    def test_changes_nothing_that_was_said_before_the_last_exchange(self, answer: dict[str, Any]):
        first = (Decision("entity", "A", 1, _at(0), _at(1)),)
        with pytest.raises(DecisionLocked, match="'entity' of A is locked: it was given with 1 exchanges"):
            decide(EXCHANGES, SHAPE, ({"entity": {"A": "human"}}, first), answer, [_at(0), _at(2)], _at(3))
        features = STEPS.model_copy(update={"reveal": "exchange_by_exchange", "steps": STEPS.steps[1:]})
        fluency: dict[str, Any] = {"fluency": "A"}
        decided = (Decision("fluency", None, 1, _at(0), _at(1)),)
        with pytest.raises(DecisionLocked, match="'fluency' is locked: it was given with 1 exchanges"):
            decide(features, SHAPE, (fluency, decided), {}, [_at(0), _at(2)], _at(3))
