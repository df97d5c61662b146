"""`stb rank`: the ranking of a campaign."""

import asyncio
from typing import TYPE_CHECKING, Any

from rich.console import Console

from spotthebot.cli.commands.analysis_options import Campaign, takes_parameters
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources import Campaigns, find
from spotthebot.cli.studies import ranking
from spotthebot.local.runtime.session import Services, connect, open_session

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.results import Analysis


@reads_services
@takes_parameters
def rank(
    services: Services,
    campaign: Campaign,
    parameters: dict[str, Any],
    json_file: JsonFile = None,
) -> None:
    """Rank the bots of a campaign."""
    check_output(json_file)
    with open_session(services) as session:

        async def run() -> "Analysis":
            async with connect(session) as clients:
                known = await find(Campaigns(clients), campaign)
                return await ranking.rank(clients, known.id, parameters)

        results = asyncio.run(run())
    write_json(json_file, results.model_dump(mode="json"))
    if str(json_file) != "-":
        ranking.print_ranking(Console(), results)
