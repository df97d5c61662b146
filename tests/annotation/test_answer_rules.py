"""Answers, leases and attempts at their bounds, without a service: when each is refused, and what the refusal says."""

from dataclasses import replace
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
from spotthebot.annotation.attempts.domain import Attempt, SavedAnswer, require_grantable, state_after
from spotthebot.annotation.attempts.errors import (
    AttemptNotFailed,
    NoSuchTrainingDialogue,
    TrainingAnswerFinal,
    TrainingDialogueNotShown,
)
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.leases.errors import AssignmentExpired, AssignmentNotSubmitted, AssignmentSubmitted
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.exchanges import Decision, decide, open_exchange
from spotthebot.annotation.protocols.errors import (
    AllExchangesOpen,
    DecisionLocked,
    EverythingDecided,
    ExchangeNotNext,
    ShownWhole,
)
from spotthebot.contracts.annotation import CampaignId
from spotthebot.contracts.assignments import AssignmentId, AssignmentState
from spotthebot.contracts.trainings import Training, TrainingState
from tests.factories import annotating
from tests.factories.annotator_trainings import RIGHT, WRONG, training

NOW = datetime(2026, 1, 1, 12, 30, 15, 250_000, tzinfo=UTC)
ID = UUID(int=1)
STEPS = built_in_protocols()["spot_the_bot", 1]
EXCHANGES = built_in_protocols()["spot_the_bot_gamified", 1]
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
        assert refused.value.facts == {"step": show_step}
        longer = STEPS.model_copy(update={"steps": STEPS.steps * 2})
        with pytest.raises(StepNotShown):
            revise(longer, SHAPE, Draft(DECISION), DECISION, now=NOW, show_step=3)

    def test_changes_no_step_that_was_left_and_answers_none_that_was_not_shown(self):
        with pytest.raises(StepLocked) as locked:
            _revised(Draft(DECISION, step=2), {"entity": SAID | {"A": "bot"}})
        with pytest.raises(StepNotShown) as hidden:
            _revised(Draft(DECISION, step=1), WHOLE)
        assert (locked.value.facts, hidden.value.facts) == ({"step": STEPS.steps[0].id}, {"step": STEPS.steps[1].id})

    def test_leaves_a_draft_as_it_is_where_the_same_is_said_again_by_whatever_version(self):
        draft = Draft(DECISION, step=2, version=5)
        for show_step in (None, 1, 2):
            assert _revised(draft, DECISION, show_step=show_step, version=3) is draft

    def test_replaces_the_version_that_was_read_and_no_other(self):
        assert _revised(Draft(DECISION, version=5), {}, version=5).version == 6
        for version in (4, 6):
            with pytest.raises(VersionOutdated, match=f"is in version 5, not {version}"):
                _revised(Draft(DECISION, version=5), {}, version=version)


def _item(position: int, answer: dict[str, Any] = WHOLE, **more: Any) -> AnsweredItem:
    times: dict[str, Any] = {"served_at": None, "first_saved_at": None, "saved_at": None, "active_ms": 0}
    item: dict[str, Any] = {"exchanges": 2, "speakers": "ABAB", "is_pair": False, "reported_ms": None}
    return AnsweredItem(UUID(int=position), position, draft=Draft(answer, step=2), **(item | times | more))


def _at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


class TestSubmission:
    def test_counts_the_items_that_miss_something(self):
        with pytest.raises(ItemsUnanswered, match=r"^2 items are not fully answered") as refused:
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
        with pytest.raises(DecisionLocked, match="'entity' of A was given with 1 exchanges open"):
            decide(EXCHANGES, SHAPE, ({"entity": {"A": "human"}}, first), answer, [_at(0), _at(2)], _at(3))
        features = STEPS.model_copy(update={"reveal": "exchange_by_exchange", "steps": STEPS.steps[1:]})
        fluency: dict[str, Any] = {"fluency": "A"}
        decided = (Decision("fluency", None, 1, _at(0), _at(1)),)
        with pytest.raises(DecisionLocked, match="'fluency' was given with 1 exchanges open"):
            decide(features, SHAPE, (fluency, decided), {}, [_at(0), _at(2)], _at(3))


def _lease(state: AssignmentState) -> Lease:
    given: dict[str, Any] = {"leased_at": NOW, "expires_at": NOW, "heard_at": None, "heard_position": None}
    return Lease(
        AssignmentId(ID),
        CampaignId(ID),
        ID,
        ID,
        state,
        submitted_at=None,
        completion_code=None,
        lasts=timedelta(hours=1),
        **given,
    )


class TestLease:
    def test_ends_at_its_very_time_which_is_said_to_the_second(self):
        _lease(AssignmentState.LEASED).require_at_work(NOW - timedelta(microseconds=1))
        with pytest.raises(AssignmentExpired, match=r"expired on 2026-01-01T12:30:15\+00:00:"):
            _lease(AssignmentState.LEASED).require_at_work(NOW)
        with pytest.raises(AssignmentExpired):
            _lease(AssignmentState.EXPIRED).require_at_work(NOW - timedelta(hours=1))

    @pytest.mark.parametrize("state", [AssignmentState.SUBMITTED, AssignmentState.REJECTED])
    def test_takes_no_answers_once_it_was_submitted(self, state: AssignmentState):
        with pytest.raises(AssignmentSubmitted):
            _lease(state).require_at_work(NOW - timedelta(hours=1))
        _lease(state).require_submitted()

    @pytest.mark.parametrize("state", [AssignmentState.LEASED, AssignmentState.EXPIRED])
    def test_holds_no_work_to_reject_before(self, state: AssignmentState):
        with pytest.raises(AssignmentNotSubmitted):
            _lease(state).require_submitted()


TRAINING = Training.model_validate(training(allowed_mistakes=2))
STARTED = Attempt(1, TrainingState.IN_PROGRESS, NOW, None, (SavedAnswer(0, RIGHT, 0, NOW),))


class TestAttempt:
    def test_takes_the_answer_to_the_next_dialogue_and_the_same_again(self):
        assert STARTED.require_answerable(TRAINING, 1, WRONG)
        assert not STARTED.require_answerable(TRAINING, 0, RIGHT)

    def test_says_which_dialogue_is_next_and_which_is_the_last(self):
        with pytest.raises(TrainingAnswerFinal, match="Dialogue 0"):
            STARTED.require_answerable(TRAINING, 0, WRONG)
        with pytest.raises(TrainingDialogueNotShown, match=r"Dialogue 2 .* dialogue 1 comes first"):
            STARTED.require_answerable(TRAINING, 2, RIGHT)
        with pytest.raises(NoSuchTrainingDialogue, match="has dialogues 0 to 2, and no dialogue 3"):
            STARTED.require_answerable(TRAINING, 3, RIGHT)

    @pytest.mark.parametrize(
        ("position", "mistakes", "state"),
        [(1, 9, TrainingState.IN_PROGRESS), (2, 2, TrainingState.PASSED), (2, 3, TrainingState.FAILED)],
    )
    def test_is_decided_by_the_mistakes_in_the_last_dialogue(self, position: int, mistakes: int, state: TrainingState):
        assert state_after(TRAINING, position, mistakes) is state

    def test_may_be_followed_by_another_where_it_failed_and_more_are_allowed(self):
        failed = replace(STARTED, number=2, state=TrainingState.FAILED)
        assert [(failed.may_follow(allowed), failed.is_last_failure(allowed)) for allowed in (1, 2, 3)] == [
            (False, True),
            (False, True),
            (True, False),
        ]
        assert not replace(failed, state=TrainingState.PASSED).may_follow(3)
        assert not replace(failed, state=TrainingState.PASSED).is_last_failure(2)

    def test_is_granted_after_the_last_allowed_one_failed(self):
        failed = replace(STARTED, number=2, state=TrainingState.FAILED)
        assert require_grantable(3, failed, 2)
        assert not require_grantable(2, failed, 2)
        for number, last in ((4, failed), (3, None), (3, replace(failed, state=TrainingState.PASSED))):
            with pytest.raises(AttemptNotFailed, match=f"Attempt {number} .* not failed attempt {number - 1}"):
                require_grantable(number, last, 2)
