"""Makes the wire types of intervals, of the basis of an interval, and of coefficients of agreement."""

from spotthebot.analytics import stats
from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.provenance import Interval, Uncertainty


def uncertainty_of(found: stats.Uncertainty) -> Uncertainty:
    """Return the wire type of an estimate's uncertainty."""
    return Uncertainty.of(found, clusters=found.clusters.value)


def interval_of(
    estimate: float | None, low: float | None, high: float | None, found: stats.Uncertainty | None
) -> Interval:
    """Return the wire type of an estimate with its bounds."""
    return Interval(estimate=estimate, low=low, high=high, uncertainty=None if found is None else uncertainty_of(found))


def coefficient_of(found: stats.Alpha | stats.Kappa) -> Coefficient:
    """Return the wire type of a coefficient of agreement with its interval."""
    return Coefficient.of(found, uncertainty=uncertainty_of(found.uncertainty))
