"""The options of `rank`, `report` and `analyse`: the settings that a result depends on in addition to the data."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from spotthebot.cli.commands.option_groups import adding
from spotthebot.cli.commands.options import NAMED
from spotthebot.cli.errors import OptionsOfLabels
from spotthebot.contracts.analytics.choices import Clusters, Correction, Filter, RankRule, Test, Unit, Weighting
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL


class Annotators(StrEnum):
    """How a report names annotators."""

    CODES = "codes"
    NAMES = "names"


Ranked = Annotated[str, typer.Argument(metavar="CAMPAIGN_OR_STUDY", help=f"{NAMED} the campaign or study.")]
ReportFolder = Annotated[Path, typer.Option("--out", help="Folder of the report; made where it is missing.")]
AnnotatorsOption = Annotated[
    Annotators,
    typer.Option("--annotators", help="What the report calls annotators: codes, or the ids that they came with."),
]
SAMPLES = 3
"""The conversations of each group in a report, unless others are asked for."""
SamplesOption = Annotated[
    int,
    typer.Option("--samples", min=0, max=20, help="Conversations that the report shows of each group; 0 shows none."),
]
StabilityOption = Annotated[
    bool, typer.Option("--stability", help="Compute the stability of the ranking, too; takes minutes.")
]
StabilityRuleOption = Annotated[
    RankRule,
    typer.Option(
        "--stability-rule", help="How subsets are ranked: by percentiles of a bootstrap, or as the paper's code does."
    ),
]


def _parameters(
    filter_: Annotated[Filter, typer.Option("--filter", help="Which annotations count.")] = "complete_packages",
    unit: Annotated[Unit, typer.Option("--unit", help="What one game is.")] = "annotation",
    weighting: Annotated[
        Weighting,
        typer.Option(
            "--weighting", help="What a segment of i exchanges is worth in --unit conversation: i, log(i) or log(2 i)."
        ),
    ] = "exchanges",
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
    ] = "both",
    test: Annotated[
        Test,
        typer.Option("--test", help="Of pairs and curves; all but the first take annotations for independent."),
    ] = "clustered",
    correction: Annotated[Correction, typer.Option("--correction", help="Of the p-values of all pairs.")] = "holm",
    resamples: Annotated[int, typer.Option("--resamples", min=1, max=100_000, help="Bootstrap replicates.")] = 1000,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, max=2**63 - 1, help="Same seed, same data: same result; else the campaign's, of files 0."
        ),
    ] = None,
    weak_thresholds: Annotated[
        list[float] | None,
        typer.Option(
            "--weak-threshold",
            min=0,
            max=1,
            help="Rank again without annotators whose share of right labels is below it; may be repeated.",
        ),
    ] = None,
) -> dict[str, Any]:
    """Return the options as parameters of an analysis, under the API's names.

    `seed` and `weak_thresholds` are left out if they are not given.
    """
    given = {"seed": seed, "weak_thresholds": weak_thresholds}
    return {
        "filter": filter_,
        "unit": unit,
        "weighting": weighting,
        "confidence_level": confidence_level,
        "significance_level": significance_level,
        "clusters": clusters,
        "test": test,
        "correction": correction,
        "resamples": resamples,
    } | {name: value for name, value in given.items() if value is not None}


def options_of_labels(parameters: Mapping[str, Any]) -> list[str]:
    """Return the options with a value of their own that have a meaning for labels and comparisons of sides alone."""
    from spotthebot.contracts.analytics.provenance import ParametersIn  # noqa: PLC0415 - models take time to build

    standard = ParametersIn()
    return [
        option
        for option, is_chosen in {
            "--unit": parameters["unit"] != standard.unit,
            "--weighting": parameters["weighting"] != standard.weighting,
            "--weak-threshold": "weak_thresholds" in parameters,
            "--test": parameters["test"] != standard.test,
        }.items()
        if is_chosen
    ]


def require_no_options(source: str, options: Sequence[str]) -> None:
    """Raise OptionsOfLabels if there are such options; `source` names the protocol or the study of the results."""
    if options:
        raise OptionsOfLabels(source=source, options=" and no ".join(options))


takes_parameters = adding(_parameters, "parameters")
"""A decorator that adds the options of an analysis to a command. Their values are its argument `parameters`."""
