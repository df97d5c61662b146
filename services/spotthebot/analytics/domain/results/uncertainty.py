"""What an interval or a p-value stands on, as results say it."""

from dataclasses import asdict

from spotthebot.analytics import stats
from spotthebot.contracts.analytics.provenance import Interval, PooledEffect, Uncertainty


def uncertainty_of(found: stats.Uncertainty) -> Uncertainty:
    """Put what an estimate's interval stands on into its form for results."""
    return Uncertainty(
        standard_error=found.standard_error,
        degrees_of_freedom=found.degrees_of_freedom,
        conversations=found.conversations,
        annotators=found.annotators,
        clusters=found.clusters.value,
        reason=found.reason,
        pooled=None if found.pooled is None else PooledEffect(**asdict(found.pooled)),
    )


def interval_of(
    estimate: float | None, low: float | None, high: float | None, found: stats.Uncertainty | None
) -> Interval:
    """Put an estimate with its bounds into its form for results."""
    return Interval(estimate=estimate, low=low, high=high, uncertainty=None if found is None else uncertainty_of(found))
