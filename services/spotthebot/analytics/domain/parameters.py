"""The parameters of every result: how the data are analysed."""

from dataclasses import dataclass
from typing import Self

from spotthebot.contracts.analytics.choices import Clusters, Correction, Filter, Test, Unit
from spotthebot.contracts.analytics.provenance import ParametersIn


@dataclass(frozen=True)
class Parameters:
    """The parameters of an analysis. The endpoints and the command line have the same defaults."""

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
        """Return the requested parameters. If the request has no seed, `seed` is used, which is the campaign's."""
        asked = request.model_dump(include=set(ParametersIn.model_fields))
        return cls(**asked | {"seed": seed if request.seed is None else request.seed})
