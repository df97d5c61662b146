"""`--judges` of `rank` and `report`: the judges whose labels count next to people's."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spotthebot.local.progress import say

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.provenance import AnnotatorCounts, Provenance
    from spotthebot.contracts.analytics.studies import StudyProvenance

JudgesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judges",
        metavar="NAME",
        help="Count the labels of this judge, a program, next to people's; repeat it for more, '*' for all.",
    ),
]


def with_judges(parameters: Mapping[str, Any], judges: Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters of an analysis that counts the labels of these judges."""
    return {**parameters, **({"judges": judges} if judges else {})}


def say_judges(judges: Sequence[str] | None, result: "Provenance | StudyProvenance") -> None:
    """Print whether a result includes labels of judges, if it does or if `judges` were asked for."""
    from spotthebot.contracts.analytics.studies import StudyProvenance  # noqa: PLC0415 - models take time to build

    counts: Sequence[AnnotatorCounts] = result.sources if isinstance(result, StudyProvenance) else (result.counts,)
    if any(each.judges for each in counts):
        say("Labels of judges are included: judges are programs, so the results are not about people alone.")
    elif judges:
        say("No labels of judges are included: there are none by a judge of such a name.")
