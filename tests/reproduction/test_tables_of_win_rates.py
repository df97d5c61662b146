"""Tables 1, 2, 5 and 6 of Spot The Bot (Deriu et al. 2020), cell by cell: the paper's figure, ours, the reference's.

The reference holds the paper's cells as distances from its own. Where the paper's data are an earlier snapshot
(Table 1, and Dailydialog's Tables 5 and 6, which also swap GPT and BR) the distance itself is asserted.
"""

import numpy as np
import pytest

from spotthebot.analytics.stats.rank_ranges import published_rank_ranges
from spotthebot.analytics.stats.significance import PairTest, pair_tests
from spotthebot.analytics.stats.wins import SsaRule, Unit, Weighting, count_wins, play_games
from spotthebot.statistics.adjustment import Adjustment
from tests.factories.published_dump import published_table, reference
from tests.reproduction.comparison import Comparison

TABLES = {
    "Table 1": ("human", "human/annotation", "vs_table1"),
    "Table 5": ("fluency", "fluency/annotation", "vs_table5"),
    "Table 6": ("ssa", "ssa_code/annotation", "vs_table6"),
}
# Cells equal to print, of all; and the largest distance: both from the rows of the methods' table.
PRINTED = {
    ("Table 1", "dailydialog"): (2, 6, 0.027),
    ("Table 1", "empathetic"): (4, 10, 0.022),
    ("Table 5", "empathetic"): (10, 10, 0.005),
    ("Table 6", "empathetic"): (10, 10, 0.005),
}


def _pairwise(domain: str, table: str) -> Comparison:
    criterion, key, distances = TABLES[table]
    expected = reference(f"spot-the-bot/{domain}.json")
    wins = expected["by_filter"]["pkg"]["wins"][key]
    names, order = expected["systems"], wins[distances]["order"]
    games = play_games(published_table(domain, "pkg"), criterion=criterion, ssa_rule=SsaRule.PUBLISHED)
    ours = count_wins(games)
    compared = Comparison(f"{table}, {domain}: win rates per annotation")
    for i, row in enumerate(order):
        for j, column in enumerate(order[i + 1 :], start=i + 1):
            a, b = names.index(row), names.index(column)
            paper = wins["rate"][a][b] - wins[distances]["diff"][i][j]
            at = ours.bots.index(row), ours.bots.index(column)
            compared.add(f"{row} against {column}", round(paper, 2), ours.win_rates[at], wins["rate"][a][b])
    return compared


class TestPairwiseWinRates:
    @pytest.mark.parametrize(("table", "domain"), PRINTED)
    def test_every_cell_is_the_reference_s_and_as_near_to_print_as_measured(self, table, domain):
        alike, cells, furthest = PRINTED[table, domain]
        compared = _pairwise(domain, table)
        compared.print()
        assert len(compared) == cells
        assert compared.furthest_from_reference() < 1e-12
        assert compared.printed_alike("rounded", "truncated") == alike
        assert compared.furthest_from_print() < furthest + 0.0005

    @pytest.mark.parametrize("table", ["Table 5", "Table 6"])
    def test_dailydialog_s_print_has_gpt_and_br_swapped(self, table):
        _, key, distances = TABLES[table]
        wins = reference("spot-the-bot/dailydialog.json")["by_filter"]["pkg"]["wins"][key]
        compared, swapped = _pairwise("dailydialog", table), wins[f"{distances}_GPT_BR_swapped"]
        compared.print()
        assert compared.furthest_from_reference() < 1e-12
        assert compared.furthest_from_print() == pytest.approx(wins[distances]["max_abs_diff"], abs=1e-9)
        assert swapped["max_abs_diff"] < 0.017 < wins[distances]["max_abs_diff"]


class TestTable2:
    @pytest.mark.parametrize(("domain", "unit"), [("empathetic", Unit.ANNOTATION), ("dailydialog", Unit.CONVERSATION)])
    def test_every_cell_is_the_paper_s(self, domain, unit):
        expected = reference(f"spot-the-bot/{domain}.json")
        assert expected["table2_reproduced_with"] == f"pkg/{unit}"
        compared = Comparison(f"Table 2, {domain}: mean win rates by feature, per {unit}")
        for feature, column in (("fluency", 0), ("specificity", 1), ("sensibleness", 2)):
            wins = expected["by_filter"]["pkg"]["wins"][f"{feature}/{unit}"]
            ours = count_wins(play_games(published_table(domain, "pkg"), unit=unit, criterion=feature))
            for name, paper in expected["table2_paper"].items():
                at, target = ours.bots.index(name), wins["avg"][expected["systems"].index(name)]
                compared.add(f"{name} {feature}", paper[column], float(ours.mean_win_rates[at]), target)
        compared.print()
        assert compared.furthest_from_reference() < 1e-12
        assert compared.printed_alike("rounded") == len(compared) == 3 * len(expected["table2_paper"])


class TestTieRates:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    def test_are_the_reference_s(self, domain):
        wins = reference(f"spot-the-bot/{domain}.json")["by_filter"]["pkg"]["wins"]
        counts = count_wins(play_games(published_table(domain, "pkg")))
        assert counts.tie_rate == pytest.approx(wins["human/annotation"]["tie_rate"], abs=1e-12)
        assert np.array_equal(counts.ties, wins["human/annotation"]["ties"])


class TestRankRanges:
    """The released code's ranges, whose Monte Carlo error the reference shows: how many of 21 runs gave which."""

    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    @pytest.mark.parametrize("criterion", ["human", "fluency", "ssa_code"])
    @pytest.mark.parametrize("unit", [Unit.ANNOTATION, Unit.CONVERSATION])
    @pytest.mark.parametrize("n_matches", [5000, None])
    @pytest.mark.parametrize("share", [0.995, 0.95])
    def test_are_among_those_that_the_reference_s_runs_gave(self, domain, criterion, unit, n_matches, share):
        drawn = "games" if n_matches is None else n_matches
        runs = reference(f"spot-the-bot/{domain}.json")["by_filter"]["pkg"]["rank_ranges"]
        target = runs[f"{criterion}/{unit}/n={drawn}/p={share * 1000:.0f}"]
        games = play_games(
            published_table(domain, "pkg"),
            unit=unit,
            criterion="ssa" if criterion == "ssa_code" else criterion,
            ssa_rule=SsaRule.PUBLISHED,
        )
        given = []
        for seed in range(7):
            ranges = published_rank_ranges(games, n_matches=n_matches, share=share, seed=seed)
            at = [ranges.bots.index(bot) for bot in target["order"]]
            given.append(tuple((ranges.rank_low[i], ranges.rank_high[i]) for i in at))
        if target["share"] == 1:
            assert set(given) == {tuple(map(tuple, target["modal"]))}
        else:
            assert str(max(set(given), key=given.count)) in target["all"]


class TestDraftsConversationWinner:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    @pytest.mark.parametrize("package_filter", ["none", "pkg"])
    @pytest.mark.parametrize(
        ("weighting", "key"),
        [
            (Weighting.LOG_EXCHANGES, "log_exchanges"),
            (Weighting.LOG_TURNS, "log_turns"),
            (Weighting.EXCHANGES, "linear_exchanges_as_code"),
        ],
    )
    def test_wins_and_both_rates_are_the_reference_s(self, domain, package_filter, weighting, key):
        target = reference(f"spot-the-bot/{domain}.json")["by_filter"][package_filter]["draft_weighted_winner"][key]
        table = published_table(domain, package_filter)
        counts = count_wins(play_games(table, unit=Unit.CONVERSATION, weighting=weighting))
        assert counts.wins.tolist() == target["W"]
        np.testing.assert_allclose(counts.mean_win_rates, target["avg_excl_ties"], atol=1e-12)
        if key == "log_exchanges":
            with_ties = [[np.nan if rate is None else rate for rate in row] for row in target["rate_incl_ties"]]
            np.testing.assert_allclose(counts.win_rates_with_ties, with_ties, atol=1e-12)


class TestPairTests:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    def test_the_published_chi_square_is_the_reference_s(self, domain):
        target = reference(f"spot-the-bot/{domain}.json")["by_filter"]["pkg"]["wins"]["human/annotation"]["chi2"]
        games = play_games(published_table(domain, "pkg"))
        for test in pair_tests(games, test=PairTest.CHI_SQUARE, adjustment=Adjustment.NONE):
            want = target[f"{test.bot}|{test.other}"]
            assert test.statistic == pytest.approx(want["chi2_2x2_yates"], rel=1e-9)
            assert test.p_value == pytest.approx(want["p_2x2_yates"], rel=1e-9)
