"""Verdicts of labels, with the verdicts that were given, and the report of a look: each field is stated."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from spotthebot.analytics.labels.domain import LabelledCampaign, labelled_campaign_of
from spotthebot.analytics.stats.pair_verdicts import PairVerdict
from spotthebot.analytics.verdicts.domain import Given, report_of, verdicts_of, with_given
from spotthebot.contracts.analytics.verdicts import GivenVerdict, PairVerdictOut
from spotthebot.contracts.annotation.verdicts import ReportedVerdict
from tests.analytics.stats.annotation_tables import simulated_table
from tests.factories.known import known
from tests.factories.wire_values import assert_is

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_TABLE = simulated_table(2, names=("A", "B", "C"), per_pair=12, annotators=14)


def _campaign() -> LabelledCampaign:
    return labelled_campaign_of(_TABLE, "simulated")


def _stated(pair: PairVerdict) -> dict[str, object]:
    return {
        "bot": pair.bot,
        "other": pair.other,
        "estimate": pair.estimate,
        "low": pair.low,
        "high": pair.high,
        "n": pair.n,
        "conversations": pair.conversations,
        "annotators": pair.annotators,
        "margin": 0.25,
        "level": 0.05,
        "n_pairs": 3,
        "method": pair.method,
    }


class TestKeptVerdicts:
    def test_stay_beside_the_present_estimate(self):
        open_, *_ = found = verdicts_of(_campaign(), 0.25)
        given = Given("A", "B", "equivalent", 70, -0.2, 0.1, _NOON)
        kept, *others = with_given(found, {("A", "B"): given})
        stated_given = {"given_at": _NOON, "n": 70, "low": -0.2, "high": 0.1}
        decided = {"verdict": "equivalent", "more_conversations": None, "more_annotators": None, "reason": None}
        assert_is(PairVerdictOut, kept, _stated(open_) | decided | {"given": stated_given})
        assert_is(GivenVerdict, known(kept.given), stated_given)
        for pair, shown in zip(found[1:], others, strict=True):
            needs = {
                "more_conversations": pair.more_conversations,
                "more_annotators": pair.more_annotators,
                "reason": pair.reason,
            }
            assert_is(PairVerdictOut, shown, _stated(pair) | needs | {"verdict": "open", "given": None})


class TestReports:
    def test_hold_the_pairs_that_meet_and_the_undecided_items_of_each_package(self):
        pairs = [("X", "Y"), ("X", "Y"), ("X", "Z"), ("HU", "HU"), ("HU", "X")]
        talks = [f"c{at}" for at in range(len(pairs))]
        first, second = uuid4(), uuid4()
        labelled = LabelledCampaign(
            campaign_id=uuid4(),
            campaign="c",
            domain="everyday",
            complete=False,
            speakers=dict(zip(talks, pairs, strict=True)),
            packages={first: frozenset(talks[:4]), second: frozenset(talks[2:])},
            annotations=[],
        )
        given = Given("X", "Y", "ahead", 70, 0.1, 0.5, _NOON)
        found = with_given(verdicts_of(labelled, None), {("X", "Y"): given})
        report = report_of(labelled, found)
        # Y and Z never meet, so they do not keep the campaign from stopping; X and Z are undecided.
        ahead, undecided = report.verdicts
        assert_is(ReportedVerdict, ahead, {"verdict": "ahead", "low": None, "high": None})
        assert_is(ReportedVerdict, undecided, {"verdict": "open", "low": None, "high": None})
        assert {each.package_id: each.items for each in report.packages} == {UUID(str(first)): 1, UUID(str(second)): 1}
