"""Results of several campaigns of one protocol, pooled: means over campaigns, each a stratum."""

import math
from uuid import UUID

import numpy as np
import pytest
import scipy

from spotthebot.analytics.stats.strata import METHOD, SHARED_METHOD, Stratum, mean_over_strata, strata_differ
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.campaigns import ANNOTATORS, PAIRS, campaign_of, labelled_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots


def _stratum(estimate: float, error: float | None = 0.05, *, degrees: float = 12.0, n: int = 200) -> Stratum:
    reason = "too few" if error is None else None
    return Stratum(estimate, error, degrees, n, conversations=40, annotators=13, reason=reason)


class TestMeanOverStrata:
    def test_has_the_standard_error_and_the_degrees_of_a_stratified_mean(self):
        found = mean_over_strata([_stratum(0.3, 0.06), _stratum(0.6, 0.08, degrees=20)], scale=None)
        # se² = (.06² + .08²) / 4; degrees = (.06² + .08²)² / (.06⁴ / 12 + .08⁴ / 20)
        degrees = 0.01**2 / (0.06**4 / 12 + 0.08**4 / 20)
        half = float(scipy.stats.t.ppf(0.975, degrees)) * 0.05
        assert found.estimate == pytest.approx(0.45)
        assert found.uncertainty.standard_error == pytest.approx(0.05)
        assert found.uncertainty.degrees_of_freedom == pytest.approx(degrees)
        assert found.low == pytest.approx(0.45 - half)
        assert found.high == pytest.approx(0.45 + half)
        assert (found.n, found.uncertainty.conversations, found.uncertainty.annotators) == (400, 80, 26)

    def test_standard_errors_of_strata_that_share_annotators_add_up(self):
        found = mean_over_strata([_stratum(0.3, 0.06), _stratum(0.6, 0.08, degrees=20)], scale=None, shared=True)
        half = float(scipy.stats.t.ppf(0.975, 12)) * (0.06 + 0.08) / 2
        assert found.uncertainty.standard_error == pytest.approx(0.07)
        assert found.low == pytest.approx(0.45 - half)
        assert found.high == pytest.approx(0.45 + half)

    def test_bounds_of_a_share_stay_on_the_scale_and_follow_its_units(self):
        share = mean_over_strata([_stratum(0.9), _stratum(0.98)])
        points = mean_over_strata([_stratum(4.6, 0.2), _stratum(4.92, 0.2)], scale=(1.0, 5.0))
        assert share.high is not None
        assert share.high < 1
        for of_points, of_share in zip((points.low, points.high), (share.low, share.high), strict=True):
            assert of_points == pytest.approx(1 + 4 * (of_share or math.nan))

    def test_p_value_is_of_the_middle_of_the_scale(self):
        low = mean_over_strata([_stratum(0.42, 0.08), _stratum(0.45, 0.06)])
        high = mean_over_strata([_stratum(0.58, 0.08), _stratum(0.55, 0.06)])
        assert low.p_value == pytest.approx(high.p_value)
        # The error of 435 of 1,000 at even odds, and the degrees as above.
        error = 0.05 * math.sqrt(0.25 / (0.435 * 0.565))
        degrees = 0.01**2 / (0.08**4 / 12 + 0.06**4 / 12)
        assert low.p_value == pytest.approx(2 * scipy.stats.t.sf(0.065 / error, degrees))

    def test_a_stratum_that_agrees_in_all_still_adds_to_the_variance(self):
        # 13 clusters: a share of 1 / 15 of as many clusters.
        found = mean_over_strata([_stratum(0.0, 0.0), _stratum(0.5, 0.1)])
        assert found.uncertainty.standard_error == pytest.approx(math.sqrt((1 / 15 * 14 / 15 / 13 + 0.01) / 4))

    def test_without_a_scale_the_p_value_is_of_0(self):
        found = mean_over_strata([_stratum(3.0, 2.0), _stratum(-1.0, 1.5)], scale=None)
        degrees = (4 + 2.25) ** 2 / (16 / 12 + 2.25**2 / 12)
        assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(2 / math.sqrt(4 + 2.25), degrees))

    def test_one_stratum_without_a_standard_error_leaves_the_mean_without_bounds(self):
        found = mean_over_strata([_stratum(0.4), _stratum(0.6, None)], clusters=Clusters.BOTH)
        assert (found.estimate, found.low, found.p_value) == (0.5, None, None)
        assert found.uncertainty.reason == "too few"


class TestStrataDiffer:
    def test_is_welch_s_test_of_two_means(self):
        """Scipy's test of two samples with these means and standard errors."""
        expected = scipy.stats.ttest_ind_from_stats(
            0.3, 0.06 * math.sqrt(13), 13, 0.55, 0.08 * math.sqrt(21), 21, equal_var=False
        )
        found = strata_differ([_stratum(0.3, 0.06), _stratum(0.55, 0.08, degrees=20)])
        assert found == pytest.approx(expected.pvalue)

    def test_is_welch_s_test_of_three_means(self):
        samples = [[1, 2, 4, 6], [3, 5, 6, 9, 11], [2, 2, 3]]
        strata = [_stratum(float(np.mean(each)), scipy.stats.sem(each), degrees=len(each) - 1) for each in samples]
        assert strata_differ(strata, scale=None) == pytest.approx(_welch(samples), abs=1e-9)

    def test_counts_the_variances_of_strata_that_share_annotators_as_often_as_there_are_strata(self):
        strata = [_stratum(0.3, 0.06), _stratum(0.55, 0.08, degrees=20)]
        t = 0.25 / math.sqrt(2 * (0.06**2 + 0.08**2))
        shares = [part / (0.06**2 + 0.08**2) for part in (0.06**2, 0.08**2)]
        degrees = 12 / sum(share**2 for share in shares)
        assert strata_differ(strata, shared=True) == pytest.approx(2 * scipy.stats.t.sf(t, degrees))

    def test_is_none_of_one_stratum_and_without_a_standard_error(self):
        assert strata_differ([_stratum(0.4)]) is None
        assert strata_differ([_stratum(0.4), _stratum(0.6, None)]) is None


def _welch(samples: list[list[int]]) -> float:
    """Welch (1951), from the samples themselves."""
    n = np.array([len(each) for each in samples])
    mean, weight = np.array([np.mean(each) for each in samples]), n / [np.var(each, ddof=1) for each in samples]
    k, total = len(samples), weight.sum()
    lack = np.sum((1 - weight / total) ** 2 / (n - 1))
    between = np.sum(weight * (mean - np.sum(weight * mean) / total) ** 2) / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * lack)
    return float(scipy.stats.f.sf(f, k - 1, (k**2 - 1) / (3 * lack)))


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read two campaigns."""
    return module_suite


@pytest.fixture(scope="module")
async def bots(suite: RunningSuite) -> dict[str, str]:
    return await register_bots(suite)


@pytest.fixture(scope="module")
async def campaigns(suite: RunningSuite, bots: dict[str, str]) -> list[str]:
    """Return the ids of two campaigns of the same bots: in the second there are no ties, and half the annotators."""
    paths = [
        await labelled_campaign(suite, bots),
        await labelled_campaign(suite, bots, annotators=ANNOTATORS[:2], ties=False),
    ]
    return [path.rpartition("/")[2] for path in paths]


class TestPooledCampaigns:
    @pytest.mark.parametrize("result", ["agreement", "fooling-rates", "win-rates", "measures", "ranking", "survival"])
    async def test_have_the_mean_of_the_campaigns_own_results(
        self, suite: RunningSuite, campaigns: list[str], result: str
    ):
        analyst = await suite.client("analytics", "analyst")
        found = (await analyst.get("/v1/pooled", params={"campaigns": campaigns, "result": result})).json()
        assert [each["campaign_id"] for each in found["campaigns"]] == campaigns
        assert found["estimates"]
        for each in found["estimates"]:
            own = [value for value in each["by_campaign"] if value is not None]
            assert each["estimate"] == pytest.approx(sum(own) / len(own))
            assert (each["p_adjusted"] is None) or each["other"]

    async def test_rank_bots_by_the_differences_of_every_campaign(self, suite: RunningSuite, campaigns: list[str]):
        analyst = await suite.client("analytics", "analyst")
        found = (await analyst.get("/v1/pooled", params={"campaigns": campaigns, "result": "ranking"})).json()
        bots = [each for each in found["estimates"] if each["other"] is None]
        assert [each["estimate"] for each in bots] == sorted((each["estimate"] for each in bots), reverse=True)
        means = {each["bot"]: each["by_campaign"] for each in bots}
        for each in found["estimates"]:
            if each["other"] is not None:
                leads = zip(means[each["bot"]], means[each["other"]], strict=True)
                assert each["by_campaign"] == pytest.approx([one - other for one, other in leads])
        # A bot ranks behind as many bots as are significantly ahead of it.
        behind = dict.fromkeys(means, 1)
        for each in found["estimates"]:
            if each["p_adjusted"] is not None and each["p_adjusted"] < 0.05:
                behind[each["other"] if each["estimate"] > 0 else each["bot"]] += 1
        assert {each["bot"]: each["rank_low"] for each in bots} == behind

    async def test_add_the_scores_of_log_rank_tests(self, suite: RunningSuite, campaigns: list[str]):
        """The stratified test of independent campaigns: summed scores over the root of their summed variances."""
        analyst = await suite.client("analytics", "analyst")
        own = [
            (await analyst.get(f"/v1/campaigns/{each}/survival", params={"test": "score"})).json()["survival"]
            for each in campaigns
        ]
        asked = {"campaigns": campaigns, "result": "survival", "test": "score"}
        found = (await analyst.get("/v1/pooled", params=asked)).json()
        pairs = [each for each in found["estimates"] if each["other"] is not None]
        assert pairs
        for each in pairs:
            tests = [t for of in own for t in of["log_rank"] if {t["bot"], t["other"]} == {each["bot"], each["other"]}]
            scores = [t["score"] if t["bot"] == each["bot"] else -t["score"] for t in tests]
            errors = [t["uncertainty"]["standard_error"] for t in tests]
            assert each["estimate"] == pytest.approx(sum(scores) / 2)
            if None not in errors:  # the campaigns share annotators: standard errors add up
                assert each["uncertainty"]["standard_error"] == pytest.approx(sum(errors) / 2)

    async def test_say_whether_campaigns_differ(self, suite: RunningSuite, campaigns: list[str]):
        analyst = await suite.client("analytics", "analyst")
        asked = {"campaigns": campaigns, "result": "fooling-rates"}
        found = (await analyst.get("/v1/pooled", params=asked)).json()
        tested = [each["p_differ_adjusted"] for each in found["estimates"] if each["p_differ"] is not None]
        assert tested
        assert found["p_differ"] == min(tested)

    async def test_rank_nobody_where_no_two_bots_are_in_every_campaign(self, suite: RunningSuite, campaigns: list[str]):
        other = (await labelled_campaign(suite, {}, [("X", "Y")])).rpartition("/")[2]
        analyst = await suite.client("analytics", "analyst")
        asked = {"campaigns": [campaigns[0], other], "result": "ranking"}
        found = (await analyst.get("/v1/pooled", params=asked)).json()
        assert (found["estimates"], found["reason"]) == ([], "no two bots are in every campaign")

    async def test_without_a_shared_annotator_or_text_are_independent(self, suite: RunningSuite, bots: dict[str, str]):
        drawn = [
            (PAIRS[:1], ANNOTATORS[:1]),
            (PAIRS[1:], ANNOTATORS[1:]),
            (PAIRS[1:2], ["someone"]),
            (PAIRS[:1], ["someone"]),
        ]
        campaigns = [
            (await labelled_campaign(suite, bots, pairs, annotators=annotators)).rpartition("/")[2]
            for pairs, annotators in drawn
        ]
        analyst = await suite.client("analytics", "analyst")
        # The second and the third share a text, the third and the last a person, who has a pseudonym in each.
        for (one, other), method in (((0, 1), METHOD), ((1, 2), SHARED_METHOD), ((2, 3), SHARED_METHOD)):
            asked = {"campaigns": [campaigns[one], campaigns[other]], "result": "fooling-rates"}
            assert (await analyst.get("/v1/pooled", params=asked)).json()["method"] == method

    async def test_take_a_pair_s_wins_from_the_same_side_in_each_campaign(
        self, suite: RunningSuite, campaigns: list[str]
    ):
        analyst = await suite.client("analytics", "analyst")
        pooled = (await analyst.get("/v1/pooled", params={"campaigns": campaigns, "result": "win-rates"})).json()[
            "estimates"
        ]
        for at, campaign in enumerate(campaigns):
            own = (await analyst.get(f"/v1/campaigns/{campaign}/win-rates")).json()["win_rates"]["pairs"]
            rates = {(each["bot"], each["other"]): each["win_rate"] for each in own}
            rates |= {(other, bot): 1 - rate for (bot, other), rate in rates.items()}
            for each in pooled:
                if each["other"] is not None:
                    assert each["by_campaign"][at] == pytest.approx(rates[each["bot"], each["other"]])

    async def test_are_tables_too(self, suite: RunningSuite, campaigns: list[str]):
        analyst = await suite.client("analytics", "analyst")
        asked = {"campaigns": campaigns}
        table = (await analyst.get("/v1/pooled", params=asked, headers={"Accept": "text/csv"})).text
        assert table.startswith("bot,other,subject,exchanges,estimate,")

    async def test_are_of_two_campaigns_of_one_protocol(self, suite: RunningSuite, campaigns: list[str]):
        analyst = await suite.client("analytics", "analyst")
        game = await campaign_of(suite, protocol="spot_the_bot_gamified")
        for asked, status in (
            ([campaigns[0]], 422),
            ([campaigns[0]] * 2, 422),
            ([campaigns[0], game["id"]], 409),
            ([campaigns[0], str(UUID(int=1))], 404),
        ):
            refused = await analyst.get("/v1/pooled", params={"campaigns": asked})
            assert refused.status_code == status
        nobody = await campaign_of(suite, name="nobody yet")
        empty = await analyst.get("/v1/pooled", params={"campaigns": [campaigns[0], nobody["id"]]})
        assert empty.status_code == 409
        assert empty.json()["detail"].startswith("The campaign 'nobody yet' has no such result, so leave it out. ")
        assert (
            "pool campaigns with the same version of one protocol"
            in (await analyst.get("/v1/pooled", params={"campaigns": [campaigns[0], game["id"]]})).json()["detail"]
        )
