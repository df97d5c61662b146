"""Agreement by workforce in periods, and of all labels together (Finch, Finch & Choi 2023, Table 8)."""

import doctest
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest

from spotthebot.analytics.measures.domain import workforces as module
from spotthebot.analytics.measures.domain.measures import all_agreements
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.contracts.analytics.workforces import AgreementParametersIn, WorkforceAgreement
from spotthebot.contracts.annotation.annotations import AnnotationOut
from tests.factories.known import known
from tests.factories.measured_campaigns import answered, measured_campaign

FIRST, SECOND = datetime(2026, 11, 3, 12, tzinfo=UTC), datetime(2026, 11, 20, 12, tzinfo=UTC)
RATED = [
    (FIRST, 1, {"ann": (5, 2), "ben": (1, 4)}),
    (FIRST, 2, {"ann": (4, 1), "cid": (2, 3)}),
    (SECOND, 3, {"ann": (5, 1), "ben": (5, 1)}),
    (SECOND, 4, {"ann": (4, 2), "ben": (4, 2)}),
]
"""When a conversation was rated, and the quality that each annotator gave its sides: first they differ, then agree."""
PEOPLE = {"ann": Workforce("lab", None), "ben": Workforce("lab", None), "cid": Workforce("panel", None)}


def rated(*more: AnnotationOut, engaging: int = 0) -> MeasuredCampaign:
    """Rate the quality; how engaging the sides are is `engaging` points away from it, if that is not 0."""
    given = [
        answered(
            conversation,
            annotator,
            {"quality": {"A": a, "B": b}} | ({"engaging": {"A": a, "B": b}} if engaging else {}),
        ).model_copy(update={"ended_at": at})
        for at, conversation, both in RATED
        for annotator, (a, b) in both.items()
    ]
    return measured_campaign("dialogue_likert", dict.fromkeys(range(1, 6), ("ada", "bob")), [*given, *more])


def rows(campaign: MeasuredCampaign, *dates: date) -> Sequence[WorkforceAgreement]:
    return all_agreements(campaign, PEOPLE, Parameters(filter="none"), dates).workforces


class TestPeriods:
    def test_follow_all_the_time_each_with_its_workforces(self):
        day = date(2026, 11, 10)
        found = [
            (each.since, each.until, each.frontend, each.annotators, each.annotations) for each in rows(rated(), day)
        ]
        assert found == [
            (None, None, None, 3, 8),
            (None, None, "lab", 2, 7),
            (None, None, "panel", 1, 1),
            (None, day, None, 3, 4),
            (None, day, "lab", 2, 3),
            (None, day, "panel", 1, 1),
            (day, None, None, 2, 4),
            (day, None, "lab", 2, 4),
        ]

    def test_compare_only_labels_of_the_period(self):
        """In the second period both people give 5, 1, 4 and 2 alike, so alpha is 1."""
        day = date(2026, 11, 10)
        found = {(each.since, each.until): each for each in rows(rated(), day) if each.frontend is None}
        quality = {key: next(m.alpha for m in each.measures if m.measure == "quality") for key, each in found.items()}
        assert quality[day, None].estimate == 1
        assert known(quality[None, day].estimate) < 0
        assert [each.n for each in quality.values()] == [8, 4, 4]
        assert rows(rated())[0] == rows(rated(), day)[0]

    def test_without_labels_say_so(self):
        (_, _, _, *_, empty) = rows(rated(), date(2027, 1, 1))
        assert (empty.since, empty.annotations, empty.alpha.estimate) == (date(2027, 1, 1), 0, None)
        assert empty.alpha.reason == "no unit has two values"

    def test_begin_at_midnight_utc(self):
        """01:00 on the tenth in Berlin is the ninth in UTC."""
        early = datetime(2026, 11, 10, 1, tzinfo=timezone(timedelta(hours=2)))
        more = answered(5, "cid", {"quality": {"A": 1, "B": 1}}).model_copy(update={"ended_at": early})
        found = rows(rated(more), date(2026, 11, 10))
        assert [each.annotations for each in found if each.frontend == "panel"] == [2, 2]

    def test_leave_out_labels_without_a_time_and_count_them(self):
        campaign = rated(answered(5, "ann", {"quality": {"A": 1, "B": 1}}))
        found = all_agreements(campaign, PEOPLE, Parameters(filter="none"), [date(2026, 11, 10)])
        assert found.undated == 1
        everybody = [each.annotations for each in found.workforces if each.frontend is None]
        assert everybody == [9, 4, 4]

    def test_are_in_their_order_however_they_are_named(self):
        days = (date(2026, 12, 1), date(2026, 11, 1), date(2026, 12, 1))
        assert AgreementParametersIn(period=days).dates == (date(2026, 11, 1), date(2026, 12, 1))
        assert doctest.testmod(module).failed == 0

    def test_share_no_label_and_miss_none(self):
        days = [FIRST.date() + timedelta(days=at) for at in range(0, 20, 4)]
        found = [each for each in rows(rated(), *days) if each.frontend is None]
        assert sum(each.annotations for each in found[1:]) == found[0].annotations
        assert all(earlier.until == later.since for earlier, later in pairwise(found[1:]))


class TestAllLabels:
    def test_count_each_measure_of_each_unit_as_a_unit(self):
        """With every rating twice, coincidences double: 1 - (n - 1) D / E has 32 values in place of 16."""
        once, twice = rows(rated())[0], rows(rated(engaging=1))[0]
        quality = next(each.alpha for each in once.measures if each.measure == "quality")
        assert quality.estimate is not None
        assert twice.alpha.estimate is not None
        assert (quality.n, once.alpha.n, twice.alpha.n) == (8, 8, 16)
        assert once.alpha.estimate == quality.estimate
        assert 1 - twice.alpha.estimate == pytest.approx((1 - quality.estimate) * 31 / 15 / 2)

    def test_have_no_alpha_where_scales_differ(self):
        """Spot The Bot asks for labels and for preferences."""
        labels = {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "tie", "specificity": "B"}
        campaign = measured_campaign(
            "spot_the_bot", {1: ("ada", "bob")}, [answered(1, name, labels) for name in ("ann", "ben")]
        )
        (everybody, _) = rows(campaign)
        assert everybody.alpha.estimate is None
        assert (
            everybody.alpha.reason == "the measures have different scales, so that their labels have no alpha together"
        )
        assert len(everybody.measures) > 1
