"""The options of `rank`, `report` and `analyse`: what every result depends on beside the data."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Filter(StrEnum):
    """Which annotations count."""

    COMPLETE_PACKAGES = "complete_packages"
    NONE = "none"


class Unit(StrEnum):
    """What one game is."""

    ANNOTATION = "annotation"
    SEGMENT = "segment"
    CONVERSATION = "conversation"


class Correction(StrEnum):
    """How p-values of all pairs are corrected."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    NONE = "none"


FilterOption = Annotated[Filter, typer.Option("--filter", help="Which annotations count.")]
UnitOption = Annotated[Unit, typer.Option("--unit", help="What one game is.")]
Confidence = Annotated[float, typer.Option("--confidence-level", min=0.001, max=0.9999, help="Of intervals and tests.")]
Resamples = Annotated[int, typer.Option("--resamples", min=1, max=100_000, help="Bootstrap replicates.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same data: same result.")]
CorrectionOption = Annotated[Correction, typer.Option("--correction", help="Of the p-values of all pairs.")]
Campaign = Annotated[str, typer.Argument(help="Name or id of the campaign.")]
ReportFolder = Annotated[Path, typer.Option("--out", help="Folder of the report; made where it is missing.")]


def parameters(
    filter_: Filter, unit: Unit, confidence_level: float, resamples: int, seed: int, correction: Correction
) -> dict[str, Any]:
    """Return the parameters of an analysis, as the API names them."""
    return {
        "filter": filter_.value,
        "unit": unit.value,
        "confidence_level": confidence_level,
        "resamples": resamples,
        "seed": seed,
        "correction": correction.value,
    }
