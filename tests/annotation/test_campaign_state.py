from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from spotthebot.annotation.domain.campaigns import Campaign, Progress
from spotthebot.annotation.domain.errors import CampaignNotOpen

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CAMPAIGN = Campaign(
    id=uuid4(),
    name="c",
    domain="everyday",
    collection_id=uuid4(),
    mode="live",
    segments=(2, 3, 5),
    annotations_per_segment=2,
    package_size=20,
    instructions="",
    seed=0,
    created_at=NOW,
    built_at=NOW,
    closed_at=None,
    failure=None,
    progress=Progress(packages=3, segments=60, annotations=0, complete_assignments=0),
)


def _done(complete_assignments: int) -> Progress:
    return replace(CAMPAIGN.progress, complete_assignments=complete_assignments)


class TestCampaignState:
    def test_is_building_until_the_packages_are_there(self):
        assert replace(CAMPAIGN, built_at=None, progress=Progress(0, 0, 0, 0)).state == "building"

    def test_is_open_until_every_package_was_judged_by_as_many_as_it_needs(self):
        # 3 packages, 2 judges each
        assert [replace(CAMPAIGN, progress=_done(count)).state for count in (0, 5, 6)] == ["open", "open", "complete"]

    def test_of_an_import_is_open_until_it_is_closed(self):
        imported = replace(CAMPAIGN, mode="import", progress=_done(6))
        assert imported.state == "open"
        assert replace(imported, closed_at=NOW).state == "complete"

    def test_is_complete_once_closed_whatever_is_missing(self):
        assert replace(CAMPAIGN, closed_at=NOW).state == "complete"

    def test_is_failed_where_packages_could_not_be_made_even_if_closed(self):
        assert replace(CAMPAIGN, built_at=None, closed_at=NOW, failure="too short").state == "failed"

    def test_only_an_open_one_gives_out_packages(self):
        CAMPAIGN.require_open()
        for other in ({"closed_at": NOW}, {"built_at": None}, {"failure": "too short"}):
            with pytest.raises(CampaignNotOpen, match="'c' is"):
                replace(CAMPAIGN, **other).require_open()
