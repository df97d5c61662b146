from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from spotthebot.annotation.domain import assignments, campaigns
from spotthebot.annotation.domain.campaigns import Campaign, Progress
from spotthebot.annotation.domain.errors import CampaignNotOpen
from spotthebot.contracts.annotation import AssignmentState, CampaignId, CampaignState

CAMPAIGN = Campaign(
    id=CampaignId(uuid4()),
    name="c",
    domain="everyday",
    collection_id=uuid4(),
    mode="live",
    segments=(2, 3, 5),
    annotations_per_segment=2,
    package_size=20,
    instructions="",
    seed=0,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    state=CampaignState.OPEN,
    failure=None,
    too_short=None,
    progress=Progress(packages=3, segments=60, annotations=0, complete_assignments=0),
)


class TestCampaignLifecycle:
    def test_names_every_state(self):
        assert set(campaigns.TRANSITIONS) == set(CampaignState)

    def test_begins_with_building(self):
        assert campaigns.states_before(CampaignState.BUILDING) == ()

    def test_opens_or_fails_only_a_campaign_that_is_being_built(self):
        assert campaigns.states_before(CampaignState.OPEN) == (CampaignState.BUILDING,)
        assert campaigns.states_before(CampaignState.FAILED) == (CampaignState.BUILDING,)

    def test_completes_a_campaign_that_is_building_or_open(self):
        assert campaigns.states_before(CampaignState.COMPLETE) == (CampaignState.BUILDING, CampaignState.OPEN)

    @pytest.mark.parametrize("state", [CampaignState.COMPLETE, CampaignState.FAILED])
    def test_ends_with_complete_and_failed(self, state: CampaignState):
        assert campaigns.TRANSITIONS[state] == frozenset()


class TestIsFullyAnnotated:
    def test_needs_as_many_complete_assignments_of_each_package_as_annotations(self):
        # 3 packages, 2 annotators each
        counts = (0, 5, 6)
        progress = [replace(CAMPAIGN.progress, complete_assignments=count) for count in counts]
        assert [replace(CAMPAIGN, progress=each).is_fully_annotated for each in progress] == [False, False, True]

    def test_is_never_true_of_an_import(self):
        progress = replace(CAMPAIGN.progress, complete_assignments=6)
        assert not replace(CAMPAIGN, mode="import", progress=progress).is_fully_annotated


class TestRequireOpen:
    def test_accepts_an_open_campaign(self):
        CAMPAIGN.require_open()

    @pytest.mark.parametrize("state", sorted(set(CampaignState) - {CampaignState.OPEN}))
    def test_refuses_a_campaign_in_any_other_state(self, state: CampaignState):
        with pytest.raises(CampaignNotOpen, match=f"'c' is {state}"):
            replace(CAMPAIGN, state=state).require_open()


class TestAssignmentLifecycle:
    def test_names_every_state(self):
        assert set(assignments.TRANSITIONS) == set(AssignmentState)

    def test_claims_an_expired_assignment_again_and_no_complete_one(self):
        assert assignments.states_before(AssignmentState.CLAIMED) == (AssignmentState.EXPIRED,)

    def test_completes_and_expires_only_claims(self):
        for state in (AssignmentState.COMPLETE, AssignmentState.EXPIRED):
            assert assignments.states_before(state) == (AssignmentState.CLAIMED,)

    def test_counts_only_claimed_and_complete_ones_as_annotators_of_a_package(self):
        assert set(assignments.COUNTED) == {AssignmentState.CLAIMED, AssignmentState.COMPLETE}
