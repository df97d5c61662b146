"""A synthetic study of our own, which lies in every clone, with R's figures beside it: see tests/golden/study."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.stats.alpha import label_alpha
from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.annotators import annotator_quality
from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.frames import from_csv
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.result_frames import to_dataframe
from spotthebot.analytics.stats.segments import segment_results
from spotthebot.analytics.stats.significance import PairTest, pair_tests
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.analytics.stats.wins import Games, games_between, play_games
from spotthebot.statistics.adjustment import adjust
from spotthebot.statistics.errors import SettingOutOfRange
from tests.factories.known import known
from tests.golden.study.make_study import COLUMNS, rows

FOLDER = Path(__file__).parents[1] / "golden" / "study"


def near(value: Any, *, tolerance: float = 1e-9) -> Any:
    return pytest.approx(value, rel=tolerance, abs=1e-12)


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "figures.json").read_text())
    return found


@pytest.fixture(scope="module")
def annotations() -> list[dict[str, str]]:
    with (FOLDER / "annotations.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def table() -> AnnotationTable:
    return from_csv(FOLDER / "annotations.csv")


@pytest.fixture(scope="module")
def games(table: AnnotationTable) -> Games:
    return play_games(table)


class TestGoldenStudy:
    def test_is_what_its_script_draws(self, annotations: list[dict[str, str]]):
        assert [list(each.values()) for each in annotations] == [[str(value) for value in row] for row in rows()]
        assert list(annotations[0]) == COLUMNS

    def test_fooling_rates_have_r_s_clustered_intervals(self, table: AnnotationTable, figures: dict[str, Any]):
        for found in fooling_rates(table):
            want = figures["fooling"][found.bot]
            assert (found.n, found.estimate) == (want["n"], near(want["estimate"]))
            assert (found.low, found.high) == near((want["low"], want["high"]))
            assert found.uncertainty.standard_error == near(want["variance"] ** 0.5)
            assert found.uncertainty.degrees_of_freedom == near(want["degrees"])

    def test_pairs_have_r_s_tests_and_intervals(self, games: Games, figures: dict[str, Any]):
        """Each pair is taken alone: R pools no design effects."""
        by_test = {test: pair_tests(games, test=test) for test in PairTest}
        alone = [
            games_between(games, np.array(pair)) for pair in zip(*np.triu_indices(len(games.bots), 1), strict=True)
        ]
        adjusted = adjust(np.array([known(pair_tests(each)[0].p_value) for each in alone]))
        for at, want in enumerate(figures["pairs"]):
            (clustered,), (interval,) = pair_tests(alone[at]), rank_bots(alone[at], n_resamples=1).pairs
            sign, chi_square = by_test[PairTest.SIGN][at], by_test[PairTest.CHI_SQUARE][at]
            assert (clustered.bot, clustered.other) == (want["bot"], want["other"])
            assert clustered.wins == want["wins"]
            assert clustered.losses == want["losses"]
            assert clustered.ties == want["ties"]
            assert sign.p_value == near(want["p_sign"])
            assert sign.p_adjusted == near(figures["holm_sign"][at])
            assert chi_square.p_value == near(want["p_chi_square"])
            assert clustered.p_value == near(want["clustered"]["p_even"])
            assert adjusted[at] == near(figures["holm_clustered"][at])
            bounds = (want["clustered"]["low"], want["clustered"]["high"])
            assert (interval.low, interval.high) == near(bounds)

    def test_survival_is_r_s(self, table: AnnotationTable, figures: dict[str, Any]):
        for curve in survival_curves(current_status(table)):
            assert curve.estimate == near(figures["survival"][curve.bot])

    def test_cox_coefficients_are_those_of_r_s_binomial_regression(
        self, table: AnnotationTable, figures: dict[str, Any]
    ):
        fits = {fit.bot: fit for fit in cox_regressions(current_status(table))}
        for bot, want in figures["cox"].items():
            assert want["ascending"]  # so that no intercepts are pooled
            for found in fits[bot].coefficients:
                assert found.estimate == near(want["coefficients"][found.feature], tolerance=1e-6)
            assert [value for _, value in fits[bot].baseline] == near(want["intercepts"], tolerance=1e-6)

    def test_bradley_terry_strengths_without_ties_are_r_s(self, games: Games, figures: dict[str, Any]):
        decided = games.outcome != 0
        columns = ("first", "second", "outcome", "conversation", "annotator")
        fit = rate_davidson(replace(games, **{name: getattr(games, name)[decided] for name in columns}))
        assert {each.bot: each.estimate for each in fit.bots} == near(figures["bradley_terry"], tolerance=1e-6)

    @pytest.mark.parametrize("level", [Measurement.ORDINAL, Measurement.NOMINAL])
    def test_alpha_is_r_s(self, table: AnnotationTable, figures: dict[str, Any], level: Measurement):
        assert label_alpha(table, level=level).estimate == near(figures["alpha"][str(level)])

    def test_correctness_and_median_time_are_r_s(
        self, table: AnnotationTable, annotations: list[dict[str, str]], figures: dict[str, Any]
    ):
        assert annotator_quality(table).correctness == near(figures["correctness"])
        elapsed = [int(each["elapsed_ms"]) for each in annotations]
        times = annotation_times(elapsed, table.exchanges, table.conversation, table.annotator)
        assert times.median_seconds == near(figures["median_seconds"])


class TestFramesOfResults:
    def test_have_a_row_for_each_result_and_a_column_for_each_field(self, table: AnnotationTable, figures: Any):
        frame = to_dataframe(fooling_rates(table)).set_index("bot")
        for bot, want in figures["fooling"].items():
            row = frame.loc[bot]
            assert [row["n"], row["estimate"], row["low"], row["high"], row["uncertainty.degrees_of_freedom"]] == near(
                [want["n"], want["estimate"], want["low"], want["high"], want["degrees"]]
            )
        assert set(frame["uncertainty.clusters"]) == {"both"}

    def test_have_a_row_for_each_bot_beside_what_holds_for_all(self, table: AnnotationTable, games: Games):
        found = rank_bots(games, n_resamples=1)
        frame = to_dataframe(found)
        assert frame["bot"].tolist() == [each.bot for each in found.bots]
        assert frame["n"].tolist() == [each.n for each in found.bots]
        assert set(frame["all_n"]) == {found.n}
        assert frame["rank_probabilities"].tolist() == [each.rank_probabilities for each in found.bots]
        assert "pairs" not in frame
        segments = to_dataframe(segment_results(table))
        assert segments.groupby("bot")["exchanges"].apply(list).to_dict() == {bot: [2, 3, 5] for bot in table.bots}

    def test_have_a_row_for_each_place_of_lists_of_one_length(self, table: AnnotationTable):
        frame = to_dataframe(survival_curves(current_status(table)))
        (ada,) = (each for each in survival_curves(current_status(table)) if each.bot == "Ada")
        mine = frame[frame["bot"] == "Ada"]
        assert (mine["times"].tolist(), mine["estimate"].tolist()) == (list(ada.times), list(ada.estimate))
        assert mine["uncertainty.annotators"].tolist() == [each.annotators for each in ada.uncertainty]

    def test_are_of_results_alone(self):
        with pytest.raises(SettingOutOfRange, match="results of the statistics, not of the type dict"):
            to_dataframe({"bot": "Ada"})
