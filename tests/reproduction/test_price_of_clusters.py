"""What clusters cost the published studies of Spot The Bot: correlations, and significance under either test."""

import numpy as np
import pytest
from scipy import stats

from spotthebot.analytics.stats.more_data import design_of
from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.pair_power import Design
from spotthebot.analytics.stats.significance import PairTest, pair_tests
from spotthebot.analytics.stats.wins import Games, play_games
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.known import known
from tests.factories.published_dump import published_table

DOMAINS = ("dailydialog", "empathetic")


def _nested_correlation(domain: str, by: str) -> float:
    """The intraclass correlation by analysis of variance, summed up in plain Python."""
    table = published_table(domain, "pkg").between_bots()
    games: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for (a, b), (label, other), conversation, annotator in zip(
        table.entity.tolist(),
        table.label.tolist(),
        table.conversation.tolist(),
        table.annotator.tolist(),
        strict=True,
    ):
        if a != b:
            outcome = int(np.sign(label - other)) * (1 if a < b else -1)
            cluster = conversation if by == "conversation" else annotator
            games.setdefault((min(a, b), max(a, b)), []).append((cluster, outcome))
    between = within = unequal = 0.0
    n = groups = 0
    for pair in games.values():
        wins, losses = (sum(outcome == sign for _, outcome in pair) for sign in (1, -1))
        rate = wins / (wins + losses)
        clusters: dict[int, list[float]] = {}
        for cluster, outcome in pair:
            gain = {1: 1 - rate, 0: 0.0, -1: -rate}[outcome]
            clusters.setdefault(cluster, []).append(gain)
        for gains in clusters.values():
            mean = sum(gains) / len(gains)
            between += len(gains) * mean**2
            within += sum((gain - mean) ** 2 for gain in gains)
        unequal += sum(len(gains) ** 2 for gains in clusters.values()) / len(pair)
        n, groups = n + len(pair), groups + len(clusters)
    between /= groups - len(games)
    within /= n - groups
    typical = (n - unequal) / (groups - len(games))
    return (between - within) / (between + (typical - 1) * within)


class TestCorrelations:
    @pytest.mark.parametrize("domain", DOMAINS)
    @pytest.mark.parametrize("by", [Clusters.CONVERSATION, Clusters.ANNOTATOR])
    def test_are_those_of_the_analysis_of_variance_written_out(self, domain, by):
        games = play_games(published_table(domain, "pkg"))
        assert outcome_correlation(games, by) == pytest.approx(_nested_correlation(domain, by.value), abs=1e-12)

    @pytest.mark.parametrize("by", ["conversation", "annotator"])
    def test_correlation_of_a_design_by_default_are_the_larger_of_the_two_domains(self, by):
        larger = max(_nested_correlation(domain, by) for domain in DOMAINS)
        assert getattr(Design(), f"{by}_correlation") == round(larger, 2)

    def test_stand_beside_a_tie_rate_and_a_share_of_work_between_those_of_the_domains(self):
        daily, empathetic = (design_of(play_games(published_table(domain, "pkg"))) for domain in DOMAINS)
        assert empathetic.tie_rate < Design().tie_rate < daily.tie_rate
        assert (
            daily.annotations_per_annotator < Design().annotations_per_annotator < empathetic.annotations_per_annotator
        )


def _adjusted(domain: str, test: PairTest) -> dict[str, float]:
    tests = pair_tests(play_games(published_table(domain, "pkg")), test=test)
    return {f"{each.bot}-{each.other}": known(each.p_adjusted) for each in tests}


class TestSignificance:
    @pytest.mark.parametrize(
        ("domain", "n", "significant", "lost"),
        [
            ("dailydialog", 6, 6, {"GPT-BR", "S2-DR"}),
            ("empathetic", 10, 7, set()),
        ],
    )
    def test_is_lost_by_the_pairs_that_docs_statistics_lists(self, domain, n, significant, lost):
        sign, clustered = _adjusted(domain, PairTest.SIGN), _adjusted(domain, PairTest.CLUSTERED)
        before, after = ({pair for pair, p in found.items() if p < 0.05} for found in (sign, clustered))
        assert (len(sign), len(before)) == (n, significant)
        assert before - after == lost
        assert after <= before

    @pytest.mark.parametrize("domain", DOMAINS)
    def test_agrees_with_the_clustered_variance_and_pooled_design_effects_written_out(self, domain):
        """Every cluster is left out in turn; observations that share both kinds of clusters count once."""
        games = play_games(published_table(domain, "pkg"))
        tests = pair_tests(games)
        pairs = [_Pair(games, games.bots.index(test.bot), games.bots.index(test.other)) for test in tests]
        weights = [min(pair.degrees) * 4 * pair.rate * (1 - pair.rate) for pair in pairs]
        rho = sum(w * (pair.effect - 1) for w, pair in zip(weights, pairs, strict=True))
        rho /= sum(w * pair.excess for w, pair in zip(weights, pairs, strict=True))
        _, work = np.unique(games.annotator[games.outcome != 0], return_counts=True)
        degrees = (work.sum() ** 2 / (work**2).sum() - 1) * (len(games.bots) - 1)
        degrees = min(degrees, sum(min(pair.degrees) for pair in pairs))
        for test, pair in zip(tests, pairs, strict=True):
            expected = 1 + rho * pair.excess
            mean = (pair.own_degrees * pair.effect + degrees * expected) / (pair.own_degrees + degrees)
            effect = max(1, mean, pair.effect)
            statistic = 2 * (pair.rate - 0.5) * np.sqrt(pair.n / effect)
            assert known(test.statistic) == pytest.approx(statistic, rel=1e-9)
            assert known(test.p_value) == pytest.approx(2 * stats.t.sf(abs(statistic), degrees), rel=1e-9)


class _Pair:
    """The decided games of two bots: their own design effect, its degrees of freedom, and its clusters."""

    def __init__(self, games: Games, a: int, b: int) -> None:
        mine = (np.minimum(games.first, games.second) == min(a, b)) & (
            np.maximum(games.first, games.second) == max(a, b)
        )
        mine &= games.outcome != 0
        won = np.where(games.first[mine] == a, games.outcome[mine], -games.outcome[mine]) > 0
        conversation, annotator = games.conversation[mine], games.annotator[mine]
        self.n, self.rate = len(won), won.mean()

        def jackknife(cluster):
            names = np.unique(cluster)
            left = np.array([won[cluster != name].mean() for name in names])
            return (len(names) - 1) / len(names) * np.sum((left - self.rate) ** 2)

        sizes = [np.unique(cluster, return_counts=True)[1] for cluster in (conversation, annotator)]
        self.degrees = [each.sum() ** 2 / (each**2).sum() - 1 for each in sizes]
        self.excess = sum((each**2).sum() / self.n - 1 for each in sizes)
        parts = [jackknife(conversation), jackknife(annotator)]
        variance = sum(parts) - jackknife(conversation * 10_000 + annotator)
        self.effect = variance * self.n / (self.rate * (1 - self.rate))
        floored = max(variance, jackknife(np.arange(self.n)))
        self.own_degrees = floored**2 / sum(part**2 / d for part, d in zip(parts, self.degrees, strict=True))
