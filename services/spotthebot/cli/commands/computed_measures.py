"""`--scores`, `--latency` and `--plugin` of `rank` and `report`: measures of a campaign that no annotator gives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

if TYPE_CHECKING:
    from spotthebot.clients.analytics_parameters import ComputedMeasures

ScoresOption = Annotated[
    list[UUID] | None,
    typer.Option(
        "--scores", metavar="ID", help="Of campaigns: FED's scores of this set are measures, too; repeat it for more."
    ),
]
LatencyOption = Annotated[
    bool, typer.Option("--latency", help="Of campaigns: the seconds that bots took for replies are a measure, too.")
]
PluginsOption = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="NAME", help="Of campaigns: a measure of this plug-in, too; repeat it for more."),
]


def computed_measures(
    scores: Sequence[UUID] | None, plugins: Sequence[str] | None, *, latency: bool
) -> "ComputedMeasures":
    """Return the parameters that add these measures to the results of a campaign."""
    added: ComputedMeasures = {}
    if scores:
        added["scores"] = scores
    if latency:
        added["latency"] = latency
    if plugins:
        added["plugins"] = plugins
    return added
