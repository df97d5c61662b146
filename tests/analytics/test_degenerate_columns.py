"""Every public function of the statistics with odd data: a result, or an error of ours that says what to do."""

import inspect
import itertools
import math
import warnings
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import trueskill

from spotthebot.analytics import stats
from spotthebot.analytics.stats.alpha import krippendorff_alpha
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.frames import from_csv, from_dataframe
from spotthebot.analytics.stats.judged.sides import JudgedSides, values_of_sides
from spotthebot.analytics.stats.judged.values import JudgedValues
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.analytics.stats.means import student_interval
from spotthebot.analytics.stats.pair_power import power_of, smallest_p
from spotthebot.analytics.stats.proportions import compare_proportions, wilson_interval
from spotthebot.analytics.stats.rank_agreement import kendall_tau
from spotthebot.analytics.stats.rank_ranges import published_rank_ranges
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.rating_power import effect_of_shares, rating_power
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues, plan_power
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.analytics.stats.result_frames import to_dataframe
from spotthebot.analytics.stats.sample_size import least_conversations, plan_annotators, plan_conversations
from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.stability import stability_at, stability_curve, without_bot
from spotthebot.analytics.stats.survival import exact_times
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.survival.interval_cox import interval_cox
from spotthebot.analytics.stats.survival.interval_log_rank import interval_log_rank, interval_log_rank_pairs
from spotthebot.analytics.stats.survival.log_rank import log_rank_tests
from spotthebot.analytics.stats.survival.npmle import npmle, survival_band
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.analytics.stats.trueskill_ratings import environment_of, ratings_of, settings_of
from spotthebot.analytics.stats.trueskill_updates import draw_margin
from spotthebot.analytics.stats.validity import linear_r2, logistic_r2
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.fed.stats import bot_scores, correlation, means, paired_difference, samples, split_half
from spotthebot.kit.errors import Error
from spotthebot.statistics import columns, rank_correlation
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.clustered_variance import Observations

INF, NAN = math.inf, math.nan
COLUMNS: dict[str, list[Any]] = {
    "nothing": [],
    "one row": [1],
    "constant": [1, 1, 1, 1],
    "constant but for rounding": [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2],
    "0 and 1": [0, 1, 1, 0],
    "ascending": [1, 2, 3, 4],
    "NaN": [NAN, 1, 2, 3],
    "nothing but NaN": [NAN, NAN, NAN],
    "None": [None, 1, 2, None],
    "pandas' NA": [pd.NA, 1, 2, pd.NaT],
    "infinite": [INF, 1, -INF, 2],
    "huge": [1e300, -1e300, 1e308, 3e300],
    "tiny": [1e-300, 5e-324, 2e-300, 0.0],
    "a small difference": [1e12, 1e12 + 1e-3, 1e12 + 2e-3, 1e12],
    "beyond double precision": [2**53, 2**53 + 1, 2**64, -(10**400)],
    "negative": [-1, -2, -3, -1],
    "words": ["a", "b", "a", ""],
    "numbers as words": ["1", "2.5", "1e3", "nan"],
    "true and false": [True, False, True, True],
    "mixed": [1, "one", None, 2.5],
    "lists": [[1], [2, 3], [], [4]],
    "complex": [1j, 2, 3, 4],
}
LEVELS = (0.95, 1e-16, 1 - 1e-17, 0, 1, NAN, INF, -1)


def _table(rows: list[tuple[Any, ...]]) -> AnnotationTable:
    return AnnotationTable.from_rows(rows)


ROWS: list[tuple[Any, ...]] = [
    (at, *pair, 2 + at % 2, *(("human", "bot") if at % 3 else ("bot", "unsure")), at % 9)
    for at, pair in enumerate(itertools.islice(itertools.cycle(["AB", "AC", "BC", ("A", "HU")]), 36))
]
TABLES = {
    "nothing": _table([]),
    "one row": _table(ROWS[:1]),
    "people alone": _table([(0, "HU", "HU", 2, "human", "human", 0)]),
    "one annotator": _table([(*row[:6], 0) for row in ROWS]),
    "ties alone": _table([(*row[:4], "unsure", "unsure", row[6]) for row in ROWS]),
    "a bot against itself": _table([(0, "A", "A", 2, "human", "bot", 0)] * 2),
    "every row twice": _table(ROWS * 2),
    "ordinary": _table(ROWS),
}
SETTINGS = {"n_resamples": 20, "n_shuffles": 3, "n_subsets": 3}


def _tried(call: Callable[[], object]) -> None:
    """Let anything through but an error of ours whose message is a sentence."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call()
        except Error as error:
            if not (str(error).endswith(".") and len(str(error)) > 20):
                raise AssertionError(str(error)) from error


def _fast(function: Callable[..., Any]) -> Callable[..., Any]:
    taken = inspect.signature(function).parameters
    return lambda *given, **named: function(*given, **{k: v for k, v in SETTINGS.items() if k in taken}, **named)


OF_COLUMNS: dict[str, Callable[..., object]] = {
    # Called with three columns, each of which may be any of the above.
    "krippendorff_alpha": lambda u, v, w: [
        krippendorff_alpha(u, v, level=each, annotator=w) for each in Measurement
    ],
    "bootstrap_alpha": lambda u, v, w: [
        _fast(bootstrap_alpha)(u, v, level=each, cluster=w) for each in Measurement
    ],
    "fleiss_kappa": lambda u, v, w: fleiss_kappa(u, v, annotator=w, conversation=u),
    "annotation_times": lambda u, v, w: annotation_times(v, u, w, u),
    "adjust": lambda u, _v, _w: [adjust(u, each) for each in Adjustment],
    "censored_times": lambda u, v, _: censored_times(u, v),
    "npmle": lambda u, v, w: npmle(censored_times(u, v), weights=w),
    "survival_band": lambda u, v, w: survival_band(
        censored_times(u, v), w, observations=Observations(np.array(u), np.array(v))
    ),
    "interval_cox": lambda u, v, w: interval_cox(
        censored_times(u, v), [[each] for each in w], ["x"], cluster=u
    ),
    "interval_log_rank": lambda u, v, w: interval_log_rank(censored_times(u, v), w, ["a", "b"]),
    "interval_log_rank_pairs": lambda u, v, w: interval_log_rank_pairs(
        censored_times(u, v), w, ["a", "b"]
    ),
    "parametric_survival": lambda u, v, w: exact_times.parametric_survival(censored_times(u, v), w),
    "kaplan_meier": lambda u, v, _: exact_times.kaplan_meier(u, v),
    "cox_of_exact_times": lambda u, v, w: exact_times.cox_of_exact_times(u, v, [[each] for each in w], ["x"]),
    "linear_r2": lambda u, v, w: linear_r2(u, [*zip(v, w, strict=False)]),
    "logistic_r2": lambda u, v, w: logistic_r2(u, [*zip(v, w, strict=False)]),
    "rank_ratings": lambda u, v, w: rank_ratings(Ratings(("a", "b"), u, v, v, w)),
    "student_interval": lambda u, _v, _w: student_interval(u),
    "from_dataframe": lambda u, v, w: from_dataframe(
        pd.DataFrame([*zip(u, v, w, strict=False)], columns=["conversation", "first", "second"], dtype=object)
    ),
    "rank_correlation": lambda u, v, _: rank_correlation.rank_correlation(u, v),
    "read_numbers": lambda u, _v, _w: columns.read_numbers(u, "x"),
    "read_codes": lambda u, _v, _w: columns.read_codes(u, "x", missing=True),
    "correlation": lambda u, v, w: [
        correlation.correlation(u, v, dialogue=w, kind=each) for each in correlation.CorrelationKind
    ],
    "partial_rank_correlation": lambda u, v, w: correlation.partial_rank_correlation(u, v, w, dialogue=w),
    "lead_over_length": correlation.lead_over_length,
    "beside_length": correlation.beside_length,
    "split_half": lambda u, v, w: split_half.split_half([*zip(u, v, w, strict=False)], n_splits=5),
    "group_means": lambda u, v, _: means.group_means(u, [str(each) for each in v]),
    "annotator_ratings": lambda u, v, w: samples.annotator_ratings(
        u, [str(each) for each in v], w, n_items=4
    ).means(),
    "score_bots": lambda u, v, w: bot_scores.score_bots(u, [str(each) for each in v], w, n_resamples=20),
    "paired_difference": lambda u, v, w: paired_difference.paired_difference(u, v, w, n_resamples=20),
}  # fmt: skip


class TestColumns:
    @pytest.mark.parametrize("function", OF_COLUMNS)
    def test_have_a_result_or_an_error_that_says_what_to_do(self, function: str):
        call = OF_COLUMNS[function]
        for kind, column in COLUMNS.items():
            plain, binary = COLUMNS["ascending"], COLUMNS["0 and 1"]
            for given in ((column, plain, binary), (plain, column, binary), (plain, binary, column), (column,) * 3):
                try:
                    _tried(lambda given=given: call(*given))  # type: ignore[misc]
                except Exception as error:  # noqa: BLE001 - what is tried
                    pytest.fail(f"{kind}, {given}: {type(error).__name__}: {error}")

    @pytest.mark.parametrize("function", [name for name in OF_COLUMNS if name not in {"adjust", "from_dataframe"}])
    def test_are_refused_where_their_lengths_differ(self, function: str):
        _tried(lambda: OF_COLUMNS[function]([1, 2, 3, 4], [1, 2], [0, 1, 1]))


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == module.__name__
    }


def _half(table: AnnotationTable) -> JudgedSides:
    """A judge that takes every side for a human with a probability of 1/2 or 1/4."""
    columns = np.unique(np.column_stack([table.conversation, table.exchanges, table.entity]), axis=0)
    return JudgedSides(columns[:, 0], columns[:, 2:], columns[:, 1], 0.5 / (1 + columns[:, 2:] % 2))


def _values(table: AnnotationTable) -> JudgedValues:
    return values_of_sides(table, _half(table), (table.label == LabelCode.HUMAN).astype(np.float64))


def _columns_of_labels(table: AnnotationTable) -> tuple[Any, ...]:
    side = np.arange(2 * len(table))
    return (
        side // 2,
        table.entity.ravel(),
        table.conversation.repeat(2),
        table.annotator.repeat(2),
        table.label.ravel() / 2,
    )


def _strata(table: AnnotationTable) -> list[stats.Stratum]:
    return [
        stats.Stratum(
            each.estimate,
            each.uncertainty.standard_error,
            each.uncertainty.degrees_of_freedom,
            each.n,
            each.uncertainty.conversations,
            each.uncertainty.annotators,
            each.uncertainty.reason,
        )
        for each in stats.fooling_rates(table)
        if each.estimate is not None
    ]


OF_TABLES: dict[str, Callable[[AnnotationTable], object]] = {
    name: _fast(getattr(stats, name))
    for name in (
        "annotator_quality", "current_status", "fooling_rates", "label_agreement", "label_alpha", "label_units",
        "pair_verdicts", "segment_results", "sides_alike", "without_weak_annotators",
    )
} | {
    "ceiling_of_labels": lambda table: stats.ceiling_of_labels(table, table.label / 2),
    "judge_ceiling": lambda table: stats.judge_ceiling(*_columns_of_labels(table)),
    "mean_over_strata": lambda table: stats.mean_over_strata(_strata(table)),
    "strata_differ": lambda table: stats.strata_differ(_strata(table)),
    "values_of_sides": _values,
    "judged_means": lambda table: stats.judged_means(_values(table)),
    "judged_preferences": lambda table: stats.judged_preferences(
        _values(table), table.entity[:, ::-1].ravel()[: len(_values(table).bot)]
    ),
    "judged_shares": lambda table: stats.judged_shares(_values(table)),
    "judged_survival": lambda table: stats.judged_survival(table, _half(table)),
    "judged_win_rates": lambda table: stats.judged_win_rates(table, _half(table)),
} | {
    name: lambda table, name=name: [
        _fast(getattr(stats, name))(play_games(table, unit=unit)) for unit in Unit
    ]
    for name in (
        "count_wins", "design_of", "outcome_correlation", "pair_tests", "plan_more", "published_rank_ranges",
        "rank_bots", "rate_davidson", "rate_skills", "stability_sizes",
    )
} | {
    "play_games": lambda table: [play_games(table, unit=unit, criterion="wit") for unit in Unit],
    "stability_at": lambda table: _fast(stability_at)(play_games(table), 1),
    "stability_curve": lambda _: stability_curve([]),
    "without_bot": lambda table: without_bot(play_games(table), "nobody"),
    "kendall_tau": lambda table: kendall_tau(*[_fast(rank_bots)(play_games(table))] * 2),
    "survival_curves": lambda table: survival_curves(current_status(table)),
    "cox_regressions": lambda table: cox_regressions(current_status(table), features=[]),
    "log_rank_tests": lambda table: log_rank_tests(current_status(table)),
    "to_dataframe": lambda table: to_dataframe(fooling_rates(table)),
    "ratings_of": lambda table: ratings_of(_fast(rate_skills)(play_games(table))),
    "environment_of": lambda table: environment_of(_fast(rate_skills)(play_games(table))),
}  # fmt: skip
OF_NUMBERS: dict[str, Callable[[Any], object]] = {
    "wilson_interval": lambda n: [wilson_interval(n, 3), wilson_interval(1, n)],
    "compare_proportions": lambda n: compare_proportions(n, n, 1, n),
    "smallest_p": lambda n: [smallest_p(n), smallest_p(10, n_pairs=n)],
    "least_conversations": lambda n: [
        least_conversations(n_pairs=n),
        least_conversations(significance_level=n),
    ],
    "power_of": lambda n: [power_of(0.7, n), power_of(n, 10), power_of(0.7, 10, n_pairs=n)],
    "plan_conversations": lambda n: [plan_conversations(n), plan_conversations(0.7, power=n)],
    "plan_annotators": lambda n: plan_annotators(0.7, n),
    "effect_of_shares": lambda n: effect_of_shares(n, 0.5),
    "rating_power": lambda n: [rating_power(0.4, n), rating_power(n, 10)],
    "plan_power": lambda n: [plan_power(0.4, n), plan_power(n, 10)],
    "plan_dialogues": lambda n: [plan_dialogues(n), plan_dialogues(0.4, power=n)],
    "evaluation_cost": lambda n: evaluation_cost(
        bots=n, conversations_per_pair=n, annotations_per_conversation=n, seconds_per_annotation=n, chats_per_bot=n,
        seconds_per_chat=n, hourly_wage=n,
    ),
    "draw_margin": lambda n: draw_margin(n, n),
    "settings_of": lambda n: [
        settings_of(trueskill.TrueSkill(**{name: n}))
        for name in ("mu", "sigma", "beta", "tau", "draw_probability")
    ],
    "to_dataframe": to_dataframe,
    "from_csv": lambda _: from_csv(__file__),
    "judged_from_csv": lambda _: stats.judged_from_csv(__file__),
}  # fmt: skip
ARRAYS = {
    "annotator_sets", "clustered_variance", "clusters_of_ranges", "intraclass_correlation", "kendall_p_value",
    "play_matches", "rank_probabilities", "rank_ranges", "share_bounds", "share_tests", "shares_of",
}  # fmt: skip
"""They take arrays that other functions of the package made, as their types say."""


class TestTablesAndNumbers:
    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("function", OF_TABLES)
    def test_have_a_result_or_an_error_that_says_what_to_do(self, function: str, table: str):
        _tried(lambda: OF_TABLES[function](TABLES[table]))

    @pytest.mark.parametrize("number", [0, -1, 1, 2, 10**9, 2**63, 0.5, 1e-300, NAN, INF, -INF])
    @pytest.mark.parametrize("function", OF_NUMBERS)
    def test_numbers_have_a_result_or_an_error_that_says_what_to_do(self, function: str, number: float):
        _tried(lambda: OF_NUMBERS[function](number))

    @pytest.mark.parametrize("level", LEVELS)
    def test_every_level_has_a_result_or_is_refused(self, level: float):
        table, rows = TABLES["ordinary"], COLUMNS["ascending"]
        games = play_games(table)
        for setting in ("confidence_level", "significance_level", "power"):
            for name in stats.__all__:
                function = getattr(stats, name)
                if inspect.isfunction(function) and setting in (taken := inspect.signature(function).parameters):
                    first = {"table": table, "games": games, "status": current_status(table)}.get(next(iter(taken)))
                    more = {"sides": _half(table), "value": table.label / 2}
                    named = {key: value for key, value in more.items() if key in taken} | {setting: level}
                    if first is not None and name != "stability_at":
                        _tried(partial(_fast(function), first, **named))
        for scored in (
            lambda: bot_scores.score_bots(rows, ["a", "a", "b", "b"], rows, confidence_level=level),
            lambda: correlation.correlation(rows, rows, confidence_level=level),
            lambda: exact_times.kaplan_meier(rows, [1, 0, 1, 1], confidence_level=level),
            lambda: plan_conversations(0.7, significance_level=level),
        ):
            _tried(scored)

    @pytest.mark.parametrize("number", [0, -1, 10**12])
    def test_every_number_of_replicates_is_refused_before_memory_ends(self, number: int):
        games, rows = play_games(TABLES["ordinary"]), COLUMNS["ascending"]
        for call in (
            lambda: rank_bots(games, n_resamples=number),
            lambda: rate_skills(games, n_shuffles=number),
            lambda: published_rank_ranges(games, n_resamples=number),
            lambda: stability_at(games, 1, n_subsets=number),
            lambda: bootstrap_alpha(rows, rows, n_resamples=number),
            lambda: bot_scores.score_bots(rows, ["a"] * 4, rows, n_resamples=number),
            lambda: split_half.split_half([rows] * 4, n_splits=number),
        ):
            with pytest.raises(Error):
                call()


def test_every_public_function_is_tried():
    public = {name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))}
    for module in (
        exact_times,
        correlation,
        split_half,
        means,
        bot_scores,
        rank_correlation,
        paired_difference,
    ):
        public |= _functions(module).keys()
    public |= {"annotator_ratings"}  # of `samples`, whose other functions take the codes of columns that were read
    assert public - {*OF_COLUMNS, *OF_TABLES, *OF_NUMBERS} == ARRAYS
