"""The options of `rank`, `report` and `analyse`: what every result depends on beside the data."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from spotthebot.cli.commands.option_groups import adding
from spotthebot.cli.commands.options import NAMED
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL


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


class Clusters(StrEnum):
    """Which annotations vary together."""

    BOTH = "both"
    CONVERSATION = "conversation"
    ANNOTATOR = "annotator"
    FIXED_PANEL = "fixed_panel"
    NONE = "none"


class Test(StrEnum):
    """Which tests give the p-values."""

    CLUSTERED = "clustered"
    SIGN = "sign"
    CHI_SQUARE = "chi_square"
    SCORE = "score"


class Annotators(StrEnum):
    """What a report calls annotators."""

    CODES = "codes"
    NAMES = "names"


class StabilityRule(StrEnum):
    """How random subsets of the conversations are ranked."""

    PERCENTILE = "percentile"
    PUBLISHED = "published"


Campaign = Annotated[str, typer.Argument(help=f"{NAMED} the campaign.")]
ReportFolder = Annotated[Path, typer.Option("--out", help="Folder of the report; made where it is missing.")]
AnnotatorsOption = Annotated[
    Annotators,
    typer.Option("--annotators", help="What the report calls annotators: codes, or the ids that they came with."),
]
SamplesOption = Annotated[
    int,
    typer.Option("--samples", min=0, max=20, help="Conversations that the report shows of each group; 0 shows none."),
]
StabilityOption = Annotated[
    bool, typer.Option("--stability", help="Compute the stability of the ranking, too; takes minutes.")
]
StabilityRuleOption = Annotated[
    StabilityRule,
    typer.Option(
        "--stability-rule", help="How subsets are ranked: by percentiles of a bootstrap, or as the paper's code does."
    ),
]


def _parameters(
    filter_: Annotated[Filter, typer.Option("--filter", help="Which annotations count.")] = Filter.COMPLETE_PACKAGES,
    unit: Annotated[Unit, typer.Option("--unit", help="What one game is.")] = Unit.ANNOTATION,
    confidence_level: Annotated[
        float, typer.Option("--confidence-level", min=MIN_LEVEL, max=MAX_LEVEL, help="Of intervals.")
    ] = 0.95,
    significance_level: Annotated[
        float,
        typer.Option("--significance-level", min=MIN_LEVEL, max=MAX_LEVEL, help="Of tests and of claims about ranks."),
    ] = 0.05,
    clusters: Annotated[
        Clusters,
        typer.Option(
            "--clusters", help="Annotations that vary together; fixed_panel speaks of these annotators and no others."
        ),
    ] = Clusters.BOTH,
    test: Annotated[
        Test,
        typer.Option("--test", help="Of pairs and curves; all but the first take annotations for independent."),
    ] = Test.CLUSTERED,
    correction: Annotated[
        Correction, typer.Option("--correction", help="Of the p-values of all pairs.")
    ] = Correction.HOLM,
    resamples: Annotated[int, typer.Option("--resamples", min=1, max=100_000, help="Bootstrap replicates.")] = 1000,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, max=2**63 - 1, help="Same seed, same data: same result; else the campaign's, of files 0."
        ),
    ] = None,
) -> dict[str, Any]:
    """Return the parameters of an analysis, as the API names them; a seed only where one is given."""
    return {
        "filter": filter_.value,
        "unit": unit.value,
        "confidence_level": confidence_level,
        "significance_level": significance_level,
        "clusters": clusters.value,
        "test": test.value,
        "correction": correction.value,
        "resamples": resamples,
    } | ({} if seed is None else {"seed": seed})


takes_parameters = adding(_parameters, "parameters")
"""Gives a command the options of an analysis, whose values it gets as its argument `parameters`."""
