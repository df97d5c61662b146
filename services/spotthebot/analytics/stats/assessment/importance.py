"""How well one measure of dialogues explains an outcome, such as their quality (ABC-Eval, section 7.2).

The paper plots R² of a linear model, or McFadden's R² of a logistic model (Figure 2). Its p-values treat dialogues as
independent. The suite's own p-value is Wald's test of the slope, with the variance of `clustered_variance`. Dialogue i,
with the measure x_i and the residual e_i of the outcome, has the influence psi_i = (x_i - mean x) e_i / sum of (x -
mean x)² on the slope. The leverage of a cluster is its share of this sum. Dialogues vary together if they have the same
text, or if one person rated the outcome of both. Annotators of the measure are not clusters: if outcomes are
independent, their products with the measure are uncorrelated, even if an annotator gave several values of the measure.
`benchmarks/analytics/importance` measures the rate of false claims.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.rating_estimates import in_units
from spotthebot.analytics.stats.validity import Explained, linear_r2, logistic_r2
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.distributions import chi_square_tails, f_tails, student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


class Model(StrEnum):
    """The model by which measures explain an outcome.

    `LINEAR` is least squares. `LOGISTIC` needs outcomes of 0 and 1. `WITHIN_PAIRS` explains which dialogue of a pair
    was preferred, by the differences between the two dialogues. It has no intercept, so it does not matter which
    dialogue is called the first.
    """

    LINEAR = "linear"
    LOGISTIC = "logistic"
    WITHIN_PAIRS = "within_pairs"

    def explained(self, outcome: ArrayLike, predictors: ArrayLike) -> Explained:
        """Return the R² of this model."""
        if self is Model.LINEAR:
            return linear_r2(outcome, predictors)
        return logistic_r2(outcome, predictors, intercept=self is Model.LOGISTIC)

    @property
    def words(self) -> str:
        """Return the description of the model's R² for a result."""
        return _WORDS[self]


_WORDS = {
    Model.LINEAR: "R² of a linear model",
    Model.LOGISTIC: "McFadden's R² of a logistic model of an outcome with two values",
    Model.WITHIN_PAIRS: "McFadden's R² of a logistic model of differences within pairs, ties left out",
}
_PUBLISHED = {
    Model.LINEAR: "F test",
    Model.LOGISTIC: "likelihood ratio test",
    Model.WITHIN_PAIRS: "likelihood ratio test",
}


_ROWS: Final = {Model.LINEAR: "dialogues", Model.LOGISTIC: "dialogues", Model.WITHIN_PAIRS: "decided pairs"}
_FEWEST: Final = 3


@dataclass(frozen=True)
class Importance:
    """R² of one measure (`estimate`) over n dialogues or pairs, with two p-values of its slope.

    `p_value` is cluster-robust. `published_p_value` treats dialogues as independent. A number that cannot be computed
    is None, and `reason` says why.
    """

    estimate: float | None
    coefficient: float | None
    p_value: float | None
    published_p_value: float | None
    n: int
    uncertainty: Uncertainty | None
    model: Model
    method: str
    reason: str | None


def importance(
    outcome: ArrayLike,
    measure: ArrayLike,
    observations: Observations,
    *,
    model: Model = Model.LINEAR,
    clusters: Clusters = Clusters.BOTH,
) -> Importance:
    """Return how well a measure (n,) explains an outcome (n,), with one row for each dialogue or pair.

    `observations` has the text of each row, and who rated its outcome. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> who = Observations(conversation=np.arange(4), annotator=np.arange(4))
    >>> found = importance([1.0, 2.0, 4.0, 4.0], [0.0, 1.0, 2.0, 3.0], who, clusters=Clusters.CONVERSATION)
    >>> round(found.estimate, 4), round(found.published_p_value, 4)  # F = 1.1² * 5 / .35 with 1 and 2 degrees
    (0.8963, 0.0533)
    """
    model, clusters = choice_of("model", model, Model), choice_of("clusters", clusters, Clusters)
    y, x = read_numbers(outcome, "outcome", finite=True), read_numbers(measure, "measure", finite=True)
    if len({y.shape, x.shape, observations.conversation.shape, observations.annotator.shape}) > 1 or y.ndim != 1:
        raise SettingOutOfRange(setting="outcome, measure and observations", allowed="columns of one length", value="")
    method = f"{model.words}; {_PUBLISHED[model]}; Wald's t test, {clusters.words}"
    undefined = Importance(None, None, None, None, len(y), None, model, method, None)
    explained = model.explained(y, x[:, None])
    reason = _why_undefined(x, explained, model)
    if reason is not None or explained.estimate is None:
        return replace(undefined, reason=reason)
    unit = float(np.abs(x if model is Model.WITHIN_PAIRS else x - x.mean()).max())
    level, slope = explained.coefficients[0], explained.coefficients[1] * unit
    value, weight = _influence(y, x / unit, level, slope, model)
    none = np.zeros(len(y), dtype=np.int64)
    influence = Influence(1, none, np.arange(len(y)), none, value, weight)
    variance = clustered_variance(observations, influence, clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = abs(slope) / np.sqrt(variance.variance)
    # A slope of 0 whose error is 0, too, tells nothing.
    p_value = 2 * student_tails(np.nan_to_num(statistic, nan=0.0, posinf=np.inf), variance.degrees)
    uncertainty = in_units(variance.uncertainty(0), 1 / unit)
    return Importance(
        estimate=explained.estimate,
        coefficient=explained.coefficients[1],
        p_value=defined(p_value[0]),
        published_p_value=_published(explained, model),
        n=len(y),
        uncertainty=uncertainty,
        model=model,
        method=method,
        reason=uncertainty.reason,
    )


def _why_undefined(x: FloatArray, explained: Explained, model: Model) -> str | None:
    if len(x) < _FEWEST:
        there = len(x) or "none"
        return f"a model needs {_FEWEST} {_ROWS[model]} with both the measure and the outcome, and there are {there}"
    if explained.predictors:
        return explained.reason
    if model is Model.WITHIN_PAIRS:
        return "the measure does not differ within any pair"
    return "the measure is 0 throughout: no dialogue is positive" if not x.any() else "the measure does not vary"


def _influence(y: FloatArray, x: FloatArray, level: float, slope: float, model: Model) -> tuple[FloatArray, FloatArray]:
    """Return the influence of each row on the slope, and the weight of each row in the slope."""
    if model is Model.LINEAR:
        error, spread = y - level - slope * x, np.ones(len(y))
    else:
        chance = scipy.special.expit(level + slope * x)
        error, spread = y - chance, chance * (1 - chance)
    apart = x if model is Model.WITHIN_PAIRS else x - float(spread @ x) / float(spread.sum())
    weight = spread * apart**2
    return apart * error / weight.sum(), weight


def _published(explained: Explained, model: Model) -> float | None:
    """Return the p-value of the F test, or of the likelihood ratio test, with one degree of freedom."""
    r2, n = explained.estimate or 0.0, explained.n
    if model is Model.LINEAR:
        return float(f_tails(r2 * (n - 2) / (1 - r2), 1, n - 2)) if r2 < 1 else 0.0
    likelihood = explained.log_likelihood or 0.0
    null = likelihood / (1 - r2)
    return float(chi_square_tails(max(2 * (likelihood - null), 0.0), 1))
