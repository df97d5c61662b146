"""Answers at their bounds, without a service: when each is refused, and what the refusal says."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from spotthebot.annotation.assignments.domain.answers import AnsweredItem, Draft, revise, shape_of, submission
from spotthebot.annotation.assignments.errors import (
    ItemsUnanswered,
    StepLocked,
    StepNotShown,
    StepUnanswered,
    VersionOutdated,
)
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from tests.factories import annotating

NOW = datetime(2026, 1, 1, 12, 30, 15, 250_000, tzinfo=UTC)
STEPS = built_in_protocols()["spot_the_bot", 1]
SHAPE = shape_of("ABAB", is_pair=False)
DECISION: dict[str, Any] = annotating.DECISION
WHOLE: dict[str, Any] = annotating.WHOLE
SAID = DECISION["entity"]


def _revised(draft: Draft, answer: dict[str, Any], **more: Any) -> Draft:
    return revise(STEPS, SHAPE, draft, answer, now=NOW, **more)


class TestRevise:
    def test_shows_the_next_step_once_the_one_before_is_answered(self):
        first = _revised(Draft(), DECISION)
        assert first == Draft(DECISION, step=1, version=1)
        second = _revised(first, DECISION, show_step=2)
        assert second == Draft(DECISION, step=2, version=2)
        assert _revised(second, WHOLE, show_step=1) == Draft(WHOLE, step=2, version=3)  # what is shown stays shown
        with pytest.raises(StepUnanswered) as refused:
            _revised(Draft(), {"entity": {"A": "human"}}, show_step=2)
        assert [each.pointer for each in refused.value.fields] == ["/answer/entity/B"]

    @pytest.mark.parametrize(("step", "show_step"), [(1, 3), (2, 3), (2, 4)])
    def test_shows_no_step_but_the_next_nor_one_that_is_not_there(self, step: int, show_step: int):
        with pytest.raises(StepNotShown) as refused:
            _revised(Draft(DECISION, step=step), WHOLE if step == 2 else DECISION, show_step=show_step)
        following = "save the answers up to step decide with `show_step: 2`, then those of step features"
        remedy = "step features is the last one" if step == 2 else following
        assert refused.value.facts == {"step": show_step, "remedy": remedy}
        longer = STEPS.model_copy(update={"steps": STEPS.steps * 2})
        with pytest.raises(StepNotShown):
            revise(longer, SHAPE, Draft(DECISION), DECISION, now=NOW, show_step=3)

    def test_changes_no_step_that_was_left_and_answers_none_that_was_not_shown(self):
        with pytest.raises(StepLocked) as locked:
            _revised(Draft(DECISION, step=2), {"entity": SAID | {"A": "bot"}})
        with pytest.raises(StepNotShown) as hidden:
            _revised(Draft(DECISION, step=1), WHOLE)
        assert "decide is locked, because the next step was shown: send its answers as they are saved (entity)" in str(
            locked.value
        )
        assert "features is not shown yet: save the answers up to step decide with `show_step: 2`" in str(hidden.value)

    def test_leaves_a_draft_as_it_is_where_the_same_is_said_again_by_whatever_version(self):
        draft = Draft(DECISION, step=2, version=5)
        for show_step in (None, 1, 2):
            assert _revised(draft, DECISION, show_step=show_step, version=3) is draft

    def test_replaces_the_version_that_was_read_and_no_other(self):
        assert _revised(Draft(DECISION, version=5), {}, version=5).version == 6
        for version in (4, 6):
            with pytest.raises(VersionOutdated, match=f"version 5, not {version}"):
                _revised(Draft(DECISION, version=5), {}, version=version)


def _item(position: int, answer: dict[str, Any] = WHOLE, **more: Any) -> AnsweredItem:
    times: dict[str, Any] = {"served_at": None, "first_saved_at": None, "saved_at": None, "active_ms": 0}
    item: dict[str, Any] = {"exchanges": 2, "speakers": "ABAB", "is_pair": False, "reported_ms": None}
    return AnsweredItem(UUID(int=position), position, draft=Draft(answer, step=2), **(item | times | more))


def _at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


class TestSubmission:
    def test_counts_the_items_that_miss_something(self):
        with pytest.raises(ItemsUnanswered, match=r"^2 items lack answers") as refused:
            submission(STEPS, [_item(0, {}), _item(1), _item(2, DECISION)], NOW)
        assert len({each.pointer for each in refused.value.fields}) == 5 + 3  # two sides and three features, features

    def test_takes_an_item_to_begin_with_the_save_before_its_own_first_one(self):
        items = [
            _item(0, first_saved_at=_at(10), saved_at=_at(30)),
            _item(1, first_saved_at=_at(20), saved_at=_at(25)),
            _item(2, first_saved_at=_at(40), saved_at=_at(41.5)),
        ]
        found = submission(STEPS, items, NOW)
        assert [(each.started_at, each.ended_at, each.elapsed_ms) for each in found] == [
            (NOW, _at(30), 30_000),
            (_at(10), _at(25), 15_000),
            (_at(30), _at(41.5), 11_500),
        ]

    def test_takes_what_was_on_the_screen_and_what_heartbeats_counted_where_it_is_known(self):
        items = [
            _item(0, served_at=_at(5), first_saved_at=_at(10), saved_at=_at(30)),
            _item(1, served_at=_at(5), first_saved_at=_at(10), saved_at=_at(30), active_ms=7),
            _item(2, served_at=_at(50), first_saved_at=_at(10), saved_at=_at(30), reported_ms=3),  # shown once more
            _item(3),
        ]
        found = submission(STEPS, items, NOW)
        assert [each.elapsed_ms for each in found] == [25_000, 7, 0, 0]
        assert [each.reported_ms for each in found] == [None, None, 3, None]
        assert (found[3].started_at, found[3].ended_at) == (NOW, NOW)
