"""`stb campaigns decisions`: when annotators of a game decide that a speaker is a bot."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.figures import interval_of, number
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.analytics.choices import Clusters
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.decision_times import DecisionSurvival, DecisionTimesOut


@reads_services
def decisions(
    services: Services,
    campaign: Campaign,
    confidence_level: Annotated[float, typer.Option(min=MIN_LEVEL, max=MAX_LEVEL, help="Of intervals.")] = 0.95,
    clusters: Annotated[Clusters, typer.Option(help="Decisions that vary together.")] = "both",
    json_file: JsonFile = None,
) -> None:
    """Show when the annotators of a game spot each speaker."""
    check_output(json_file)

    async def read(clients: Clients) -> "DecisionTimesOut":
        found = await find(Campaigns(clients), campaign)
        return await clients.analytics.decision_times(found.id, confidence_level=confidence_level, clusters=clusters)

    found = ask(services, read)
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    console, level = Console(), f"{confidence_level:.0%}"
    for survival, name in ((found.exact, "exact times"), (found.censored, "the same decisions as inspections")):
        console.print(_curves(survival, level, name))
        console.print(_tests(survival, name))
        if survival.cox:
            console.print(_hazards(survival, level, name))
    if found.preliminary:
        say("Preliminary: annotations are still missing.")


def _curves(survival: "DecisionSurvival", level: str, name: str) -> Table:
    times = [f"after {time} ({level})" for time in survival.times]
    table = Table("Speaker", "Sides", *times, title=f"Share not yet spotted as a bot, by exchanges open: {name}")
    for curve in survival.curves:
        points = zip(curve.survival, curve.low, curve.high, strict=True)
        cells = ["-" if value is None else f"{number(value)} ({interval_of(low, high)})" for value, low, high in points]
        table.add_row(curve.bot, str(max(curve.inspected)), *cells)
    table.caption = survival.method
    return table


def _tests(survival: "DecisionSurvival", name: str) -> Table:
    table = Table(
        "Speaker", "Against", "p", "p (Holm)", title=f"Whose curves differ, by log-rank tests: {name}", keys=2
    )
    for each in survival.log_rank:
        table.add_row(each.bot, each.other, number(each.p_value, 3), number(each.p_adjusted, 3))
    return table


def _hazards(survival: "DecisionSurvival", level: str, name: str) -> Table:
    table = Table("Speaker", "Feature", "Log hazard ratio", f"{level} interval", "p", keys=2)
    table.title = f"What a lead in a feature does to the hazard of being spotted: {name}"
    for each in survival.cox:
        interval = interval_of(each.low, each.high)
        table.add_row(each.bot, each.feature, number(each.coefficient), interval, number(each.p_value, 3))
    return table
