"""How to analyse: what every result depends on beside the data."""

from dataclasses import dataclass
from typing import Self

from spotthebot.contracts.analytics.provenance import Clusters, Correction, Filter, ParametersIn, Test, Unit


@dataclass(frozen=True)
class Parameters:
    """Defaults are those of the endpoints and of the command line."""

    filter: Filter = "complete_packages"
    unit: Unit = "annotation"
    confidence_level: float = 0.95
    significance_level: float = 0.05
    clusters: Clusters = "both"
    test: Test = "clustered"
    correction: Correction = "holm"
    resamples: int = 1000
    seed: int = 0

    @classmethod
    def of_campaign(cls, request: ParametersIn, seed: int) -> Self:
        """Return what was asked for; `seed` is the campaign's, which counts where the request names none."""
        asked = request.model_dump(include=set(ParametersIn.model_fields))
        return cls(**asked | {"seed": seed if request.seed is None else request.seed})
