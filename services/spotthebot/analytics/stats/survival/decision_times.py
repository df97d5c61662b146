"""When annotators decide that a speaker is a bot, if they open one exchange after the other: exact times.

An annotator who says "human" or "unsure" has seen enough, and would not say "bot" later. So such a side is unspotted up
to the last exchange that could be opened. The survival S(t) is the share of sides not called a bot by exchange t; it is
Kaplan & Meier's (1958) estimate, whose censoring at the last exchange depends on nobody. In Cox's (1972) regression the
leads of features multiply the hazard of being called a bot. Both estimates are the package lifelines'. Their errors are
those of decisions that share conversations and annotators; a coefficient's come from the score residuals of the partial
likelihood with Efron's method for ties (Therneau & Grambsch 2000, section 7.2), which lifelines has without ties alone.
Pairs are compared by `log_rank_tests`, since lifelines' log-rank test takes decisions for independent.

Like `exact_times`, this module is imported when somebody asks for such results: lifelines is slow to import.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.errors import FitFailed
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.survival.cox import FEATURES, CoxCoefficient
from spotthebot.analytics.stats.survival.curves import CurrentStatus, SurvivalCurve
from spotthebot.analytics.stats.survival.exact_times import HazardRatio, cox_of_exact_times, kaplan_meier
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance, shares_of
from spotthebot.statistics.distributions import student_quantiles, student_tails
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions about sides, as columns (n,): indices into `names`, the exchange, and whether "bot" was decided.

    `last` is the last exchange that could be opened. `leads` has a column for each of `FEATURES`: 1 if this side was
    preferred, -1 if the other side was, 0 if they are equal.
    """

    names: tuple[str, ...]
    entity: IntArray
    exchange: IntArray
    spotted: BoolArray
    conversation: IntArray
    annotator: IntArray
    leads: Mapping[str, IntArray]
    last: int

    @property
    def duration(self) -> IntArray:
        """Return the exchange at which "bot" was decided; of other sides the last exchange."""
        return np.where(self.spotted, self.exchange, self.last)

    def status(self, *, exact: bool) -> CurrentStatus:
        """Return the decisions as rows for `log_rank_tests`: at exact times, or as inspections at their exchanges."""
        times, time = np.unique(self.duration if exact else self.exchange, return_inverse=True)
        return CurrentStatus(
            self.names, times, self.entity, time, self.spotted, self.conversation, self.annotator, self.leads
        )


def decision_curves(
    decisions: Decisions, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH
) -> tuple[SurvivalCurve, ...]:
    """Estimate S(t) of each entity at every exchange, in the order of `names`. Raises `SettingOutOfRange`.

    `inspected` counts the sides, and `spotted` those that were called a bot by then.

    >>> column = np.array([0, 0, 0, 0])
    >>> decided = np.array([True, True, False, False])
    >>> played = Decisions(
    ...     ("A",), column, np.array([1, 2, 1, 2]), decided, np.arange(4), np.arange(4), {}, last=2
    ... )
    >>> decision_curves(played)[0].estimate  # one of four is called a bot at once, another at the second exchange
    (0.75, 0.5)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    times = np.arange(1, decisions.last + 1)
    n = len(decisions.entity)
    who = Observations(np.tile(decisions.conversation, len(times)), np.tile(decisions.annotator, len(times)))
    unspotted = ~decisions.spotted | (decisions.exchange > times[:, None])
    at = decisions.entity + len(decisions.names) * np.arange(len(times))[:, None]
    share, _, influence = shares_of(at.ravel(), unspotted.ravel().astype(np.float64), len(decisions.names) * len(times))
    variance = clustered_variance(who, influence, clusters)
    counts = np.bincount(at.ravel(), minlength=len(share))
    low, high = share_bounds(share, counts, variance, confidence_level)
    curves = []
    for code, name in enumerate(decisions.names):
        rows = np.flatnonzero(decisions.entity == code)
        cells = code + len(decisions.names) * np.arange(len(times))
        found = kaplan_meier(decisions.duration[rows], decisions.spotted[rows], confidence_level=confidence_level)
        curves.append(
            SurvivalCurve(
                bot=name,
                times=tuple(times.tolist()),
                estimate=_at(found.times, found.estimate, times),
                low=tuple(defined(bound) for bound in low[cells]),
                high=tuple(defined(bound) for bound in high[cells]),
                inspected=(len(rows),) * len(times),
                spotted=tuple(np.sum(~unspotted[:, rows], axis=1).tolist()) if n else (),
                uncertainty=tuple(variance.uncertainty(cell) for cell in cells.tolist()),
                n=len(rows),
                confidence_level=confidence_level,
                method=f"Kaplan-Meier (lifelines); {METHOD}",
            )
        )
    return tuple(curves)


def decision_hazards(
    decisions: Decisions, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH
) -> dict[str, tuple[CoxCoefficient, ...]]:
    """Fit for each entity the hazard of being called a bot on the leads of `FEATURES`. Raises `SettingOutOfRange`.

    >>> rng = np.random.default_rng(0)
    >>> leads = rng.integers(-1, 2, (400, 3))
    >>> time = rng.geometric(np.where(leads[:, 0] > 0, 0.2, 0.4))  # a lead in fluency halves the hazard
    >>> played = Decisions(
    ...     ("A",), np.zeros(400, int), time, time < 6, np.arange(400) % 40, np.arange(400) % 25,
    ...     dict(zip(FEATURES, leads.T)), last=6,
    ... )
    >>> found = decision_hazards(played)["A"]
    >>> found[0].feature, found[0].high < 0
    ('fluency', True)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    return {
        name: _hazards(decisions, np.flatnonzero(decisions.entity == code), confidence_level, clusters)
        for code, name in enumerate(decisions.names)
    }


def _hazards(
    decisions: Decisions, rows: IntArray, confidence_level: float, clusters: Clusters
) -> tuple[CoxCoefficient, ...]:
    spells, spotted = decisions.duration[rows], decisions.spotted[rows]
    leads = np.column_stack([decisions.leads[name][rows] for name in FEATURES])
    who = Observations(decisions.conversation[rows], decisions.annotator[rows])
    reason = None
    try:
        ratios = cox_of_exact_times(spells, spotted, leads, FEATURES, confidence_level=confidence_level)
    except FitFailed as failed:
        ratios, reason = (), str(failed)
    known = [each.estimate for each in ratios if each.estimate is not None]
    if len(known) < len(FEATURES):
        reason = reason or next((each.reason for each in ratios if each.reason), None)
        nothing = Uncertainty(
            None, None, len(np.unique(who.conversation)), len(np.unique(who.annotator)), clusters, reason
        )
        return tuple(CoxCoefficient(name, None, None, None, None, None, None, nothing, reason) for name in FEATURES)
    variance = clustered_variance(who, score_influence(spells, spotted, leads, np.array(known)), clusters)
    return tuple(_wald(each, variance.uncertainty(at), confidence_level) for at, each in enumerate(ratios))


def score_influence(spells: IntArray, spotted: BoolArray, x: IntArray, coefficients: FloatArray) -> Influence:
    """Return the influence of each of n decisions on p coefficients of Cox's partial likelihood with Efron's ties.

    `x` is (n, p). An influence is the score residual times the inverse of the information.

    >>> spells, spotted = np.array([1, 1, 2, 2]), np.array([True, True, True, False])
    >>> found = score_influence(spells, spotted, np.array([[1], [0], [1], [0]]), np.log([2.0]))
    >>> bool(abs(found.value.sum()) < 1e-4)  # at the maximum of the likelihood the score is 0
    True
    """
    n, p = x.shape
    risk = np.exp(x @ coefficients)
    residuals, expected, information = np.zeros((n, p)), np.zeros(n), np.zeros((p, p))
    square = x[:, :, None] * x[:, None, :]
    for time in np.unique(spells[spotted]).tolist():
        died = (spells == time) & spotted
        last = (spells >= time) & ~died
        # Of d deaths at one time, the k-th has the other dead at risk by 1 - k / d.
        part = np.arange(died.sum()) / died.sum()
        total, sums, squares = (_at_risk(risk, each, last, died, part) for each in (np.ones(n), x, square))
        mean = sums / total[:, None]
        for group, weight in ((last, 1 / total), (died, (1 - part) / total)):
            residuals[group] -= risk[group, None] * (x[group] * weight.sum() - weight @ mean)
            expected[group] += risk[group] * weight.sum()
        residuals[died] += x[died] - mean.mean(axis=0)
        information += (squares / total[:, None, None]).sum(axis=0) - mean.T @ mean
    entries = np.tile(np.arange(p), n)
    return Influence(
        n_statistics=p,
        statistic=entries,
        observation=np.repeat(np.arange(n), p),
        ratio=entries,
        value=(residuals @ np.linalg.inv(information)).ravel(),
        weight=np.repeat(expected, p),
    )


def _at_risk(
    risk: FloatArray, value: FloatArray | IntArray, last: BoolArray, died: BoolArray, part: FloatArray
) -> FloatArray:
    """Return the sums (deaths, ...) of a value (n, ...) over those at risk at each death of one time."""
    rest, dead = (np.tensordot(risk[group], value[group], axes=(0, 0)) for group in (last, died))
    found: FloatArray = np.multiply.outer(np.ones(len(part)), rest) + np.multiply.outer(1 - part, dead)
    return found


def _at(times: tuple[float, ...], estimate: tuple[float, ...], asked: IntArray) -> tuple[float, ...]:
    """Return a step function, 1 before its first time, at the times that were asked for."""
    steps = np.array([1.0, *estimate])
    return tuple(steps[np.searchsorted(np.array(times), asked, side="right")].tolist())


def _wald(ratio: HazardRatio, uncertainty: Uncertainty, confidence_level: float) -> CoxCoefficient:
    error, degrees = uncertainty.standard_error, uncertainty.degrees_of_freedom
    low = high = p_value = None
    if ratio.estimate is not None and error and degrees is not None:
        reach = float(student_quantiles((1 + confidence_level) / 2, degrees)) * error
        low, high = ratio.estimate - reach, ratio.estimate + reach
        p_value = float(2 * student_tails(abs(ratio.estimate) / error, degrees))
    return CoxCoefficient(
        feature=ratio.covariate,
        estimate=ratio.estimate,
        standard_error=error,
        model_standard_error=ratio.standard_error,
        low=low,
        high=high,
        p_value=p_value,
        uncertainty=uncertainty,
        reason=uncertainty.reason,
    )
