"""What is too fast in a submitted package: below the campaign's least seconds, or a part of others' median."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from spotthebot.annotation.annotators.domain import WorkCheck
from spotthebot.annotation.assignments.domain import work_checks as work_checks_domain
from spotthebot.annotation.assignments.domain.answers import SubmittedAnswer
from spotthebot.annotation.assignments.domain.work_checks import ResponseTimes, check_work, least_time
from tests.annotation.campaigns.test_campaign_lifecycle import CAMPAIGN
from tests.factories.annotating import annotations_of, claim, movable_clock, refused, save, submit
from tests.factories.annotator_trainings import RIGHT
from tests.factories.campaigns import campaign_of
from tests.factories.clock import MovableClock
from tests.factories.running_suite import RunningSuite

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _campaign(**rules: Any) -> Any:
    return replace(CAMPAIGN, **rules)


def _times(seconds: float, *, items: int = 100, annotators: int = 3) -> ResponseTimes:
    return ResponseTimes(items, annotators, timedelta(seconds=seconds))


def _answers(*seconds: float) -> list[SubmittedAnswer]:
    return [SubmittedAnswer(uuid4(), RIGHT, (), NOW, NOW, int(1000 * each), None) for each in seconds]


class TestLeastTime:
    @pytest.mark.parametrize(
        ("rules", "median", "least"),
        [
            ({}, 20, None),
            ({"min_seconds_per_item": 4}, 20, 4),
            ({"min_fraction_of_median": 0.3}, 20, 6),
            ({"min_seconds_per_item": 4, "min_fraction_of_median": 0.3}, 20, 6),  # the longer one
            ({"min_seconds_per_item": 4, "min_fraction_of_median": 0.3}, 10, 4),
        ],
    )
    def test_is_the_longer_one_of_what_the_campaign_asks_for(
        self, rules: dict[str, float], median: float, least: float | None
    ):
        expected = None if least is None else timedelta(seconds=least)
        assert least_time(_campaign(**rules), _times(median)) == expected

    @pytest.mark.parametrize(
        "others", [None, _times(20, items=99), _times(20, annotators=2)], ids=["nobody", "few items", "few annotators"]
    )
    def test_is_the_fixed_one_before_there_are_enough_items_of_others(self, others: ResponseTimes | None):
        rules = {"min_seconds_per_item": 4, "min_fraction_of_median": 0.3}
        assert least_time(_campaign(**rules), others) == timedelta(seconds=4)
        assert least_time(_campaign(min_fraction_of_median=0.3), others) is None


class TestCheckWork:
    @pytest.mark.parametrize(
        ("seconds", "fast_items", "fast_packages"),
        [
            ((5, 6), 0, 0),
            ((4.999, 6), 1, 0),  # half of the items is not most of them
            ((1, 2), 2, 1),
            ((1, 1, 600), 2, 1),  # a pause of ten minutes hides nothing
            ((1, 6, 6), 1, 0),
            ((), 0, 0),
        ],
    )
    def test_counts_fast_items_and_packages_most_of_whose_items_are(
        self, seconds: tuple[float, ...], fast_items: int, fast_packages: int
    ):
        found = check_work(_campaign(), _answers(*seconds), [], timedelta(seconds=5))
        assert found == WorkCheck(fast_items=fast_items, fast_packages=fast_packages)

    def test_counts_strikes_for_wrong_gold_and_for_fast_packages_where_the_campaign_says_so(self):
        gold = [True, False, False]
        for strikes_for_speed, strikes in ((False, 2), (True, 3)):
            campaign = _campaign(strike_fast_packages=strikes_for_speed)
            found = check_work(campaign, _answers(1, 1), gold, timedelta(seconds=5))
            assert found == WorkCheck(gold_right=1, gold_wrong=2, fast_items=2, fast_packages=1, strikes=strikes)

    def test_counts_nothing_as_fast_where_nothing_is_too_fast(self):
        assert check_work(_campaign(strike_fast_packages=True), _answers(0, 0), [], None) == WorkCheck()


async def _work(suite: RunningSuite, campaign: dict[str, Any], clock: MovableClock, name: str, *seconds: float) -> None:
    """Answer a package, each item in so many seconds, and submit it."""
    assignment = await claim(suite, campaign, name)
    for item, each in zip(assignment["items"], seconds, strict=True):
        clock.advance(seconds=each)
        await save(suite, assignment, item["position"], {"entity": RIGHT["entity"]}, show_step=2)
        await save(suite, assignment, item["position"], RIGHT)
    assert (await submit(suite, assignment)).status_code == 200


async def _annotators(suite: RunningSuite, campaign: dict[str, Any]) -> dict[str, dict[str, Any]]:
    admin = await suite.client("annotation", "admin")
    listed = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    return {each["annotator"]: each for each in listed}


class TestMedianOfOthers:
    @pytest.fixture(autouse=True)
    def _few_items_are_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(work_checks_domain, "MEDIAN_ITEMS", 6)

    async def test_flags_items_and_packages_far_below_it_and_drops_nothing(self, suite: RunningSuite):
        clock = movable_clock(suite)
        campaign = await campaign_of(suite, min_fraction_of_median=0.3)
        await _work(suite, campaign, clock, "early", 10, 10)  # when there is nothing to compare with
        for number in range(3):
            await _work(suite, campaign, clock, f"other {number}", 100, 300)
        # Of others' eight items, 10 10 100 100 100 300 300 300 seconds, the median is 100, and 0.3 of it 30 seconds.
        await _work(suite, campaign, clock, "slow enough", 20, 40)
        # With 20 and 40 there are ten, and the median is still 100.
        await _work(suite, campaign, clock, "fast", 10, 20)
        found = await _annotators(suite, campaign)
        counts = {
            name: (each["fast_items"], each["fast_packages"]) for name, each in found.items() if "other" not in name
        }
        assert counts == {"early": (0, 0), "slow enough": (1, 0), "fast": (2, 1)}
        assert {(each["strikes"], each["blocked_at"]) for each in found.values()} == {(0, None)}
        assert len(await annotations_of(suite, campaign)) == 12
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/annotators/{found['fast']['id']}/quality"
        assert round((await admin.get(path)).json()["others_median_seconds"], -1) == 100

    async def test_is_a_strike_where_the_campaign_says_so(self, suite: RunningSuite):
        clock = movable_clock(suite)
        rules: dict[str, Any] = {"min_fraction_of_median": 0.5, "strike_fast_packages": True, "max_strikes": 1}
        campaign = await campaign_of(suite, **rules)
        assert campaign["min_fraction_of_median"] == 0.5
        for number in range(3):
            await _work(suite, campaign, clock, f"other {number}", 100, 100)
        await _work(suite, campaign, clock, "w", 40, 40)
        blocked = (await _annotators(suite, campaign))["w"]["blocked_reason"]
        assert blocked == "1 strikes of 1: 0 gold items wrong, 1 packages too fast"
        assert await refused(suite, campaign, "w") == "blocked"
