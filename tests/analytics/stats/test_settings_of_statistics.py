"""Every setting is taken at its bounds, refused just beyond them, and has the same default wherever it stands."""

import inspect
import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics import stats
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.stats.annotators import annotator_quality, without_weak_annotators
from spotthebot.analytics.stats.assessment.importance import importance
from spotthebot.analytics.stats.assessment.subsets import backward_stepwise
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.analytics.stats.more_data import plan_more
from spotthebot.analytics.stats.pair_power import Design
from spotthebot.analytics.stats.proportions import compare_proportions, wilson_interval
from spotthebot.analytics.stats.rank_ranges import published_rank_ranges, rank_ranges
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares, rating_power
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues, plan_power
from spotthebot.analytics.stats.sample_size import plan_annotators, plan_conversations
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.stability import stability_at
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, censored_times
from spotthebot.analytics.stats.survival.curves import current_status
from spotthebot.analytics.stats.survival.exact_times import cox_of_exact_times, kaplan_meier, parametric_survival
from spotthebot.analytics.stats.survival.interval_cox import interval_cox
from spotthebot.analytics.stats.survival.interval_log_rank import RowScore, interval_log_rank
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.analytics.stats.trueskill_updates import SkillSettings
from spotthebot.analytics.stats.validity import linear_r2, logistic_r2
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.kit.errors import Invalid
from spotthebot.statistics.clustered_variance import Observations, shares_of
from spotthebot.statistics.errors import LevelOutOfRange, SettingOutOfRange
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters
from tests.analytics.stats.annotation_tables import simulated_table

TABLE = simulated_table(5, per_pair=2, times=(2,), annotations=1)
GAMES = play_games(TABLE, unit=Unit.CONVERSATION)
COST = {
    "bots": 3,
    "conversations_per_pair": 10,
    "annotations_per_conversation": 6,
    "seconds_per_annotation": 20,
    "chats_per_bot": 50,
    "seconds_per_chat": 120,
    "hourly_wage": 10,
}
TINY, ONE_LESS = math.nextafter(0, 1), math.nextafter(1, 0)
BELOW_ZERO, ABOVE_ONE = -TINY, math.nextafter(1, 2)
DEFAULTS = {
    "adjustment": {"holm"},
    "confidence_level": {0.95},
    "longest_hours": {24.0},
    "n_matches": {5000},
    "n_pairs": {1},
    "n_resamples": {1000},
    "n_shuffles": {100},
    "n_subsets": {1000},
    "power": {0.8},
    "rho": {0.0},
    "seed": {0},
    "share": {0.995},
    "significance_level": {0.05},
    "thresholds": {(0.5, 0.6, 0.7)},
}


def _times() -> CensoredTimes:
    return censored_times([0, 0, 2, 2], [2, 2, math.inf, math.inf])


def _log_rank_of(groups: list[int]) -> object:
    return interval_log_rank(_times(), groups, ["early", "late"])


def _of_cost(name: str) -> Callable[[float], object]:
    return lambda value: evaluation_cost(**(COST | {name: value}))  # type: ignore[arg-type]


def _of_design(name: str) -> Callable[[float], object]:
    return lambda value: Design(**{name: value})  # type: ignore[arg-type]


def _of_ratings(name: str) -> Callable[[float], object]:
    return lambda value: RatingDesign(**{name: value})  # type: ignore[arg-type]


def _of_skill(name: str) -> Callable[[float], object]:
    return lambda value: SkillSettings(**{name: value})


_LOG_RANK = partial(interval_log_rank, _times(), [0, 0, 1, 1], ["early", "late"])
_SHARES_OF_CLUSTERS = ClusteredVariance(np.ones(1), np.ones(1), np.array([9]), np.array([9]), Clusters.BOTH)
BOUNDED: dict[str, tuple[Callable[[float], object], tuple[float, ...], tuple[float, ...]]] = {
    "a confidence level": (lambda v: annotator_quality(TABLE, confidence_level=v), (0.001, 0.999), (0, 1)),
    "the level of ranges": (lambda v: rank_ranges(np.ones((2, 2)), v), (1e-6, 0.999), (1e-16, 0, 1)),
    "the level of shares": (
        lambda v: share_bounds(np.ones(1), np.array([9]), _SHARES_OF_CLUSTERS, v),
        (1e-6, 0.999),
        (1e-16, 0, 1),
    ),
    "a threshold": (lambda v: without_weak_annotators(TABLE, thresholds=(v,)), (0, 1), (BELOW_ZERO, ABOVE_ONE)),
    "the significance level of ranks": (lambda v: rank_bots(GAMES, significance_level=v), (0.001, 0.999), (0, 1)),
    "replicates": (lambda v: rank_bots(GAMES, n_resamples=int(v)), (1,), (0,)),
    "orders of games": (lambda v: rate_skills(GAMES, n_shuffles=int(v)), (1,), (0,)),
    "matches of the released code": (lambda v: published_rank_ranges(GAMES, n_matches=int(v)), (1,), (0,)),
    "the share of a range": (lambda v: published_rank_ranges(GAMES, share=v), (TINY, ONE_LESS), (0, 1)),
    "subsets": (lambda v: stability_at(GAMES, 1, n_subsets=int(v), n_resamples=1), (1,), (0,)),
    "conversations of a subset": (lambda v: stability_at(GAMES, int(v), n_subsets=1, n_resamples=1), (1, 2), (0, 3)),
    "hours of an annotation": (lambda v: annotation_times([1], [1], [0], [0], longest_hours=v), (TINY,), (0,)),
    "rho": (lambda v: _LOG_RANK(rho=v), (0, 1), (BELOW_ZERO,)),
    "rho of other scores": (lambda v: _LOG_RANK(rho=v, score=RowScore.SUN), (0,), (TINY,)),
    "successes": (lambda v: wilson_interval(int(v), 3), (0, 3), (-1, 4)),
    "successes of the first": (lambda v: compare_proportions(int(v), 3, 1, 3), (0, 3), (-1, 4)),
    "successes of the second": (lambda v: compare_proportions(1, 3, int(v), 3), (0, 3), (-1, 4)),
    "the code of a group": (lambda v: _log_rank_of([0, 0, 1, int(v)]), (0, 1), (-1, 2)),
    "a duration": (lambda v: kaplan_meier([v, 1], [True, True]), (0.1,), (0, -1, math.inf, math.nan)),
    "the power of more": (lambda v: plan_more(GAMES, power=v), (0.001, 0.999), (0, 1)),
    "the power of a plan": (lambda v: plan_conversations(0.7, power=v), (0.1, 0.999), (0, 1)),
    "the significance level of a plan": (lambda v: plan_conversations(0.7, significance_level=v), (0.001, 0.9), (0, 1)),
    "a win rate": (plan_conversations, (0.001, 0.999), (0, 1)),
    "pairs": (lambda v: plan_conversations(0.7, n_pairs=int(v)), (1,), (0,)),
    "conversations of a pair": (lambda v: plan_annotators(0.7, int(v)), (2,), (1,)),
    "bots": (_of_cost("bots"), (2,), (1,)),
    "conversations of a cost": (_of_cost("conversations_per_pair"), (1,), (0,)),
    "chats": (_of_cost("chats_per_bot"), (1,), (0,)),
    "annotations of a cost": (_of_cost("annotations_per_conversation"), (1e-9,), (0,)),
    "seconds of an annotation": (_of_cost("seconds_per_annotation"), (1e-9,), (0,)),
    "seconds of a chat": (_of_cost("seconds_per_chat"), (1e-9,), (0,)),
    "a wage": (_of_cost("hourly_wage"), (0,), (BELOW_ZERO,)),
    **{
        f"{name} of a design": (_of_design(name), (0, ONE_LESS), (BELOW_ZERO, 1))
        for name in ("tie_rate", "conversation_correlation", "annotator_correlation")
    },
    **{
        f"{name} of a design": (_of_design(name), (1,), (ONE_LESS,))
        for name in ("annotations_per_conversation", "annotations_per_annotator", "annotators_per_game")
    },
    "annotators of a design": (_of_design("annotators"), (2,), (1,)),
    **{
        f"ratings: {name} of a design": (_of_ratings(name), (0, ONE_LESS), (BELOW_ZERO, 1))
        for name in ("dialogue_correlation", "annotator_correlation")
    },
    **{
        f"ratings: {name} of a design": (_of_ratings(name), (1, 1_000_000), (ONE_LESS, 1_000_001))
        for name in ("annotations_per_dialogue", "values_per_annotation", "annotations_per_annotator")
    },
    "ratings: annotators of a design": (_of_ratings("annotators"), (2, 1_000_000), (1, 1_000_001)),
    "ratings: bots of a design": (_of_ratings("bots"), (2, 1000), (1, 1001)),
    "dialogues": (lambda v: rating_power(0.4, int(v)), (0, 1_000_000), (-1, 1_000_001)),
    "an effect": (lambda v: rating_power(v, 10), (-1000.0, 1000.0), (1000.1, -1000.1)),
    "an effect of a plan": (plan_dialogues, (0.0, 1000.0), (1000.1,)),
    "a share": (lambda v: effect_of_shares(v, 0.5), (0.001, 0.999), (0, 1)),
    "the other share": (lambda v: effect_of_shares(0.5, v), (0.001, 0.999), (0, 1)),
    "the power of a plan of ratings": (lambda v: plan_dialogues(0.4, power=v), (0.1, 0.999), (0, 1)),
    "the level of a plan of ratings": (lambda v: plan_dialogues(0.4, significance_level=v), (0.001, 0.9), (0, 1)),
    "the level of a power": (lambda v: plan_power(0.4, 50, significance_level=v), (0.001, 0.9), (0, 1)),
    "sigma": (_of_skill("sigma"), (TINY,), (0,)),
    "beta": (_of_skill("beta"), (TINY,), (0,)),
    "tau": (_of_skill("tau"), (0,), (BELOW_ZERO,)),
    "the draw probability": (_of_skill("draw_probability"), (0, ONE_LESS), (BELOW_ZERO, 1)),
}


@pytest.mark.parametrize("setting", BOUNDED)
def test_is_taken_at_its_bounds_and_refused_beyond(setting: str):
    call, taken, refused = BOUNDED[setting]
    for value in taken:
        call(value)
    for value in refused:
        with pytest.raises(SettingOutOfRange):
            call(value)


FRACTIONS = [
    name
    for name, (_, taken, _) in BOUNDED.items()
    if any(isinstance(each, float) for each in taken) or name.endswith((" of a design", "beta", "sigma", "tau", "rho"))
]
NO_LIMIT = ("hours of an annotation", math.inf)


@pytest.mark.parametrize(
    ("setting", "value"),
    [each for each in product(FRACTIONS, (math.nan, math.inf, -math.inf)) if each != NO_LIMIT],
)
def test_is_refused_where_it_is_no_number(setting: str, value: float):
    call, _, _ = BOUNDED[setting]
    with pytest.raises(SettingOutOfRange):
        call(value)


WHOLE: dict[str, Callable[[Any], object]] = {
    "replicates of alpha": lambda v: bootstrap_alpha([0, 0, 1, 1], [1, 1, 2, 1], n_resamples=v),
    "replicates of ranks": lambda v: rank_bots(GAMES, n_resamples=v),
    "replicates of a test": lambda v: interval_log_rank(_times(), [0, 0, 1, 1], ["early", "late"], n_resamples=v),
    "orders of games": lambda v: rate_skills(GAMES, n_shuffles=v),
    "matches of the released code": lambda v: published_rank_ranges(GAMES, n_matches=v),
    "subsets": lambda v: stability_at(GAMES, 1, n_subsets=v, n_resamples=1),
    "conversations of a subset": lambda v: stability_at(GAMES, v, n_subsets=1, n_resamples=1),
}


@pytest.mark.parametrize("value", [1.0, 1.5, "1", math.nan, 10**12, -1])
@pytest.mark.parametrize("setting", WHOLE)
def test_is_refused_where_it_is_no_whole_number_in_reach(setting: str, value: object):
    with pytest.raises(SettingOutOfRange, match="a whole number from 1 to"):
        WHOLE[setting](value)


@pytest.mark.parametrize("setting", WHOLE)
def test_takes_whole_numbers_of_numpy(setting: str):
    WHOLE[setting](np.int64(1))


@pytest.mark.parametrize("n", [2.5, math.nan, "3", 10**400, 2**53 + 1, None])
def test_counts_of_a_share_are_whole_numbers_that_stay_apart(n: Any):
    for call in (lambda: wilson_interval(n, n), lambda: wilson_interval(1, n), lambda: compare_proportions(1, 2, n, n)):
        with pytest.raises(SettingOutOfRange, match="a whole number from 0 to"):
            call()


def test_shares_take_counts_of_numpy():
    assert wilson_interval(np.int64(3), np.int64(50)).estimate == 0.06  # type: ignore[arg-type]


UNFIT: dict[str, Callable[[], object]] = {
    "predictors of another length": lambda: linear_r2([1, 2, 3], [[1], [2]]),
    "predictors without columns": lambda: linear_r2([1, 2, 3], [1, 2, 3]),
    "outcomes in rows": lambda: logistic_r2([[0, 1]], [[1, 2]]),
    "covariates of another length": lambda: interval_cox(_times(), [[0], [1]], ["x"]),
    "covariates of other names": lambda: interval_cox(_times(), [[0], [1], [0], [1]], ["x", "y"]),
    "exact times of other covariates": lambda: cox_of_exact_times([1, 2], [True, True], [[1]], ["x"]),
    "groups of another length": lambda: _log_rank_of([0, 1, 1]),
    "events of another length": lambda: kaplan_meier([1, 2], [True]),
    "durations in rows": lambda: kaplan_meier([[1, 2]], [[True, True]]),
    "no durations": lambda: kaplan_meier([], []),
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_columns_that_do_not_fit_are_refused(unfit: str):
    with pytest.raises(SettingOutOfRange):
        UNFIT[unfit]()


ARGUMENTS = {
    "annotator": [0] * 4,
    "at": [1],
    "category": [0, 1, 0, 1],
    "conversation": [0] * 4,
    "covariates": [[0], [1], [0], [1]],
    "elapsed_ms": [1] * 4,
    "first": [0, 1, 2, 3, 4],
    "second": [0, 2, 1, 3, 4],
    "exchanges": [1] * 4,
    "games": GAMES,
    "group": [0, 0, 0, 0],
    "measure": [0, 1, 0, 2],
    "measures": [[0], [1], [0], [2]],
    "n": 3,
    "names": ["x"],
    "other": np.ones(2, int),
    "observations": Observations(np.arange(4), np.arange(4)),
    "influence": shares_of(np.zeros(4, dtype=int), np.array([0.0, 1.0, 1.0, 0.0]), 1)[2],
    "outcome": [0, 1, 1, 0],
    "p_values": [0.01, 0.04],
    "ratings": Ratings(("x", "y"), np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 1, 0, 1]), np.arange(4.0)),
    "sides": stats.JudgedSides(np.arange(2), np.array([[0, 1]] * 2), np.full(2, 2), np.full((2, 2), 0.5)),
    "size": 1,
    "status": current_status(simulated_table(5, per_pair=8, times=(2,))),  # with maxima: it is fitted fast
    "strata": [stats.Stratum(0.4, 0.1, 9.0, 40, 10, 10)],
    "successes": 1,
    "table": TABLE,
    "times": _times(),
    "unit": [0, 0, 1, 1],
    "value": [0, 1, 0, 1],
    "values": stats.JudgedValues(
        bots=("x", "y"),
        bot=np.zeros(2, int),
        unit=np.arange(2),
        conversation=np.arange(2),
        annotator=np.arange(2),
        value=np.array([0.0, 1.0]),
        judge=np.full(2, 0.5),
    ),
}
WITH_CONFIDENCE = [
    function
    for function in (getattr(stats, name) for name in stats.__all__)
    if inspect.isfunction(function)
    and (level := inspect.signature(function).parameters.get("confidence_level"))
    and level.default is not level.empty
]


@pytest.mark.parametrize("function", WITH_CONFIDENCE, ids=lambda function: function.__name__)
@pytest.mark.parametrize("level", [0, 1, 1e-16, math.nan, "0.95", None])
def test_levels_of_confidence_are_between_0_and_1_in_every_function(function: Callable[..., object], level: Any):
    parameters = inspect.signature(function).parameters.values()
    given = [ARGUMENTS[each.name] for each in parameters if each.default is each.empty]
    with pytest.raises((LevelOutOfRange, SettingOutOfRange), match="confidence"):
        function(*given, confidence_level=level)


CHOICES = [
    (function, parameter.name, parameter.annotation)
    for function in (
        *(getattr(stats, name) for name in stats.__all__),
        parametric_survival,
        importance,
        backward_stepwise,
    )
    if inspect.isfunction(function)
    for parameter in inspect.signature(function).parameters.values()
    if inspect.isclass(parameter.annotation) and issubclass(parameter.annotation, StrEnum)
]


@pytest.mark.parametrize(
    ("function", "setting", "kind"), CHOICES, ids=[f"{function.__name__}-{setting}" for function, setting, _ in CHOICES]
)
def test_choices_are_words_of_their_kind_in_every_function(
    function: Callable[..., object], setting: str, kind: type[StrEnum]
):
    parameters = inspect.signature(function).parameters.values()
    given = {
        each.name: ARGUMENTS[each.name] for each in parameters if each.default is each.empty and each.name != setting
    }
    for unknown in ("nonsense", "", None, 3, [kind]):
        with pytest.raises(SettingOutOfRange, match=f"^{setting} must be one of .*{list(kind)[-1]}"):
            function(**given, **{setting: unknown})

    def outcome(choice: str) -> str:
        try:
            return repr(function(**given, **{setting: choice}))
        except Invalid as refused:  # settings that do not fit each other, or these few values
            return refused.detail

    for member in kind:
        assert outcome(member.value) == outcome(member)


def test_has_one_default_in_all_functions():
    found: dict[str, set[object]] = {}
    for name in stats.__all__:
        function = getattr(stats, name)
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters.values():
                if parameter.name in DEFAULTS and parameter.default is not parameter.empty:
                    found.setdefault(parameter.name, set()).add(parameter.default)
    assert found == DEFAULTS


def test_a_design_and_skills_have_the_defaults_that_the_documentation_names():
    # TrueSkill's own defaults (Herbrich, Minka & Graepel 2007) but for tau, and those of the planner's prose.
    assert SkillSettings() == SkillSettings(mu=25.0, sigma=25 / 3, beta=25 / 6, tau=0.0, draw_probability=None)
    assert Design() == Design(
        tie_rate=0.7,
        annotations_per_conversation=6.0,
        conversation_correlation=0.1,
        annotator_correlation=0.09,
        annotators=None,
        annotations_per_annotator=60.0,
        annotators_per_game=1.0,
    )
