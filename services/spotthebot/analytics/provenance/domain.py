"""The provenance of a result: the data and the parameters from which it was computed."""

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Protocol, Self
from uuid import UUID

from spotthebot.analytics import stats
from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.choices import Clusters, Correction, Filter, Test, Unit, Weighting
from spotthebot.contracts.analytics.provenance import WEAK_THRESHOLDS, Counts, Interval, ParametersIn, Uncertainty
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.repeated_texts import RepeatedTexts


@dataclass(frozen=True)
class Parameters:
    """The parameters of an analysis. The endpoints and the command line have the same defaults."""

    filter: Filter = "complete_packages"
    unit: Unit = "annotation"
    weighting: Weighting = "exchanges"
    confidence_level: float = 0.95
    significance_level: float = 0.05
    clusters: Clusters = "both"
    test: Test = "clustered"
    correction: Correction = "holm"
    resamples: int = 1000
    seed: int = 0
    weak_thresholds: tuple[float, ...] = WEAK_THRESHOLDS

    @classmethod
    def of_campaign(cls, request: ParametersIn, seed: int) -> Self:
        """Return the requested parameters. If the request has no seed, `seed` is used, which is the campaign's."""
        asked = request.model_dump(include=set(ParametersIn.model_fields) - {"judges"})
        return cls(**asked | {"seed": seed if request.seed is None else request.seed})


class Source(Protocol):
    """The campaign whose result it is. Data from a file have no id."""

    @property
    def campaign_id(self) -> UUID | None: ...

    @property
    def campaign(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def complete(self) -> bool: ...


def provenance_of(
    source: Source,
    request: Parameters,
    *,
    counts: Counts,
    repeated_texts: tuple[RepeatedTexts, ...],
    speakers: tuple[Speaker, ...],
    data_sha256: str,
) -> dict[str, Any]:
    """Return the fields of `Provenance`."""
    return {
        **asdict(request),
        "campaign_id": source.campaign_id,
        "campaign": source.campaign,
        "domain": source.domain,
        "counts": counts,
        "repeated_texts": repeated_texts,
        "speakers": speakers,
        "data_sha256": data_sha256,
        "as_of": None,
        "preliminary": not source.complete,
        "version": version("spotthebot"),
    }


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
