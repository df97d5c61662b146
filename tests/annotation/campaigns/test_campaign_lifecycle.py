from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from spotthebot.annotation.campaigns.domain import TRANSITIONS, Campaign, Progress, states_before
from spotthebot.annotation.campaigns.errors import (
    CampaignCannotMove,
    CampaignClosed,
    CampaignNotBuilt,
    CampaignTakesNoClaims,
)
from spotthebot.contracts.annotation.campaigns import CampaignId, CampaignState

CAMPAIGN = Campaign(
    id=CampaignId(uuid4()),
    name="c",
    domain="everyday",
    collections=(uuid4(),),
    human_share=None,
    mode="live",
    protocol="spot_the_bot",
    protocol_version=1,
    segments=(2, 3, 5),
    annotations_per_segment=2,
    pairs="any",
    units_twice=None,
    judge_annotations_per_segment=1,
    headline=None,
    margin=None,
    stop_when=None,
    stopped_at=None,
    package_size=20,
    packages_per_annotator=None,
    lease_seconds=3600,
    pay_per_package=None,
    currency=None,
    instructions="",
    consent="",
    panel=None,
    training=None,
    gold=None,
    max_strikes=None,
    min_seconds_per_item=None,
    min_fraction_of_median=None,
    strike_fast_packages=False,
    seed=0,
    annotators_published=False,
    opens_when_built=True,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    state=CampaignState.OPEN,
    failure=None,
    released_at=None,
    published_at=None,
    too_short=None,
    not_selected=None,
    unpaired=None,
    extra_assignments=0,
    extra_annotations=0,
    progress=Progress(packages=3, items=60, annotations=0, submitted=0),
)


class TestCampaignLifecycle:
    def test_names_every_state(self):
        assert set(TRANSITIONS) == set(CampaignState)

    @pytest.mark.parametrize(
        ("state", "before"),
        [
            (CampaignState.BUILDING, (CampaignState.DRAFT, CampaignState.FAILED)),
            (CampaignState.DRAFT, (CampaignState.BUILDING,)),
            (
                CampaignState.OPEN,
                (CampaignState.BUILDING, CampaignState.DRAFT, CampaignState.PAUSED, CampaignState.COMPLETE),
            ),
            (CampaignState.PAUSED, (CampaignState.OPEN,)),
            (CampaignState.COMPLETE, (CampaignState.OPEN, CampaignState.PAUSED)),
            (CampaignState.FAILED, (CampaignState.BUILDING,)),
        ],
    )
    def test_comes_to_a_state_from_those_before_it(self, state: CampaignState, before: tuple[CampaignState, ...]):
        assert states_before(state) == before

    def test_can_be_closed_until_it_ended(self):
        ended = {CampaignState.COMPLETE, CampaignState.CLOSED, CampaignState.FAILED}
        assert set(states_before(CampaignState.CLOSED)) == set(CampaignState) - ended
        assert TRANSITIONS[CampaignState.CLOSED] == frozenset()

    def test_stays_where_it_is_or_moves_by_the_table(self):
        CAMPAIGN.require_move(CampaignState.OPEN)
        CAMPAIGN.require_move(CampaignState.PAUSED)
        with pytest.raises(CampaignCannotMove, match="'c' is open and cannot become draft"):
            CAMPAIGN.require_move(CampaignState.DRAFT)

    def test_is_not_opened_before_its_packages_are_there(self):
        """Else it would be open without any, for ever: only a campaign in state building is built."""
        building = replace(CAMPAIGN, state=CampaignState.BUILDING)
        with pytest.raises(CampaignNotBuilt, match="try again when its state is draft"):
            building.require_move(CampaignState.OPEN)

    def test_opens_again_after_it_was_complete_only_where_something_is_missing(self):
        whole = replace(CAMPAIGN.progress, submitted=6)
        complete = replace(CAMPAIGN, state=CampaignState.COMPLETE, progress=whole)
        with pytest.raises(CampaignCannotMove, match="'c' is complete and cannot become open"):
            complete.require_move(CampaignState.OPEN)
        replace(complete, progress=replace(whole, submitted=5)).require_move(CampaignState.OPEN)


class TestIsFullyAnnotated:
    def test_needs_as_many_submissions_of_each_package_as_annotations(self):
        # 3 packages, 2 annotators each
        counts = (0, 5, 6)
        progress = [replace(CAMPAIGN.progress, submitted=count) for count in counts]
        assert [replace(CAMPAIGN, progress=each).is_fully_annotated for each in progress] == [False, False, True]

    def test_needs_one_submission_more_of_a_package_annotated_twice(self):
        # 3 packages, one of them twice
        drawn = replace(CAMPAIGN, annotations_per_segment=1, units_twice=20, extra_assignments=1)
        progress = [replace(CAMPAIGN.progress, submitted=count) for count in (3, 4)]
        assert [replace(drawn, progress=each).is_fully_annotated for each in progress] == [False, True]
        assert drawn.assignments_needed == 4

    def test_is_never_true_of_an_import(self):
        progress = replace(CAMPAIGN.progress, submitted=6)
        assert not replace(CAMPAIGN, mode="import", progress=progress).is_fully_annotated


class TestAnnotationsNeeded:
    def test_are_one_of_each_item_by_as_many_annotators(self):
        assert CAMPAIGN.annotations_needed == 120  # 60 items, 2 annotators

    def test_are_one_more_of_each_item_annotated_twice(self):
        drawn = replace(CAMPAIGN, annotations_per_segment=1, units_twice=20, extra_annotations=20)
        assert drawn.annotations_needed == 80  # 60 items, 20 of them by two

    @pytest.mark.parametrize(("annotations", "needed"), [(0, 120), (119, 120), (180, 180)])
    def test_are_never_fewer_than_an_import_has(self, annotations: int, needed: int):
        """Others may have labelled an item more often than the campaign says."""
        progress = replace(CAMPAIGN.progress, annotations=annotations)
        assert replace(CAMPAIGN, mode="import", progress=progress).annotations_needed == needed


class TestRequireClaims:
    def test_accepts_an_open_campaign(self):
        CAMPAIGN.require_claims()

    @pytest.mark.parametrize("state", sorted(set(CampaignState) - {CampaignState.OPEN}))
    def test_refuses_a_campaign_in_any_other_state(self, state: CampaignState):
        with pytest.raises(CampaignClosed, match=f"'c' is {state}"):
            replace(CAMPAIGN, state=state).require_claims()

    def test_refuses_an_import(self):
        with pytest.raises(CampaignTakesNoClaims):
            replace(CAMPAIGN, mode="import").require_claims()
