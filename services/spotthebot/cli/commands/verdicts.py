"""`stb campaigns verdicts`: which pairs of bots are decided while a campaign runs, and what the others need."""

from typing import Annotated

import typer

from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.options import AsJson
from spotthebot.cli.commands.resource_commands import ask, dumped, print_json
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

Margin = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Difference of win rates up to which bots are equivalent; without it, the campaign's margin.",
    ),
]


@reads_services
def verdicts(services: Services, campaign: Campaign, margin: Margin = None, as_json: AsJson = False) -> None:
    """Show which pairs of bots are decided, and about how much more work the others need."""

    async def read(clients: Clients) -> list[PairVerdictOut]:
        found = await find(Campaigns(clients), campaign)
        return [each async for each in clients.analytics.list_verdicts(found.id, margin=margin)]

    found = ask(services, read)
    if as_json:
        print_json({"verdicts": dumped(found)})
        return
    columns = ("Bot", "Verdict", "Other", "Difference", "Bounds", "Games", "Needs")
    rows = (
        (each.bot, each.verdict, each.other, _number(each.estimate), _bounds(each), each.n, _needs(each))
        for each in found
    )
    print_list(columns, rows, empty="The campaign has no pair of bots.")
    if found:
        say(f"{sum(each.given is not None for each in found)} of {len(found)} pairs are decided.")


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:+.2f}"


def _bounds(pair: PairVerdictOut) -> str | None:
    return None if pair.low is None or pair.high is None else f"{pair.low:+.2f} to {pair.high:+.2f}"


def _needs(pair: PairVerdictOut) -> str | None:
    more = {"conversations": pair.more_conversations, "annotators": pair.more_annotators}
    needs = " or ".join(f"{number:,} more {name}" for name, number in more.items() if number is not None)
    return ": ".join(filter(None, (pair.reason, needs))) or None
