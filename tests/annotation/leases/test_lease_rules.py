"""Leases at their bounds, without a service: when each is refused, and what the refusal says."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from spotthebot.annotation.leases import domain as leases_domain
from spotthebot.annotation.leases.domain import COUNTED, Lease
from spotthebot.annotation.leases.errors import AssignmentExpired, AssignmentNotSubmitted, AssignmentSubmitted
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState
from spotthebot.contracts.annotation.campaigns import CampaignId

NOW = datetime(2026, 1, 1, 12, 30, 15, 250_000, tzinfo=UTC)
ID = UUID(int=1)


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
        takes_slot=True,
        lasts=timedelta(hours=1),
        **given,
    )


class TestLease:
    def test_ends_at_its_very_time_which_is_said_to_the_second(self):
        _lease(AssignmentState.LEASED).require_at_work(NOW - timedelta(microseconds=1))
        with pytest.raises(AssignmentExpired, match=r"ended on 2026-01-01T12:30:15\+00:00:"):
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


class TestAssignmentLifecycle:
    def test_names_every_state(self):
        assert set(leases_domain.TRANSITIONS) == set(AssignmentState)

    def test_leases_an_expired_assignment_again_and_no_submitted_one(self):
        assert leases_domain.states_before(AssignmentState.LEASED) == (AssignmentState.EXPIRED,)

    def test_submits_and_expires_only_leases(self):
        for state in (AssignmentState.SUBMITTED, AssignmentState.EXPIRED):
            assert leases_domain.states_before(state) == (AssignmentState.LEASED,)

    def test_rejects_only_what_was_submitted_for_good(self):
        assert leases_domain.states_before(AssignmentState.REJECTED) == (AssignmentState.SUBMITTED,)
        assert leases_domain.TRANSITIONS[AssignmentState.REJECTED] == frozenset()

    def test_counts_all_but_expired_ones_as_packages_of_an_annotator(self):
        assert set(COUNTED) == set(AssignmentState) - {AssignmentState.EXPIRED}
