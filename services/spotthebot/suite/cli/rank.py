"""`stb rank`: the ranking of a campaign."""

import asyncio
from typing import TYPE_CHECKING, Any

from rich.console import Console

from spotthebot.suite.cli.analysis_options import Campaign, takes_parameters
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, DataDir, JsonFile, check_output, suite_at, write_json
from spotthebot.suite.resources import Campaigns, find
from spotthebot.suite.runtime.session import connect, open_session
from spotthebot.suite.studies import ranking

if TYPE_CHECKING:
    from spotthebot.contracts.analytics import Analysis


@takes_parameters
def rank(
    campaign: Campaign,
    parameters: dict[str, Any],
    json_file: JsonFile = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Rank the bots of a campaign."""
    check_output(json_file)
    with open_session(suite_at(data_dir)) as session:

        async def run() -> "Analysis":
            async with connect(session) as clients:
                known = await find(Campaigns(clients), campaign)
                return await ranking.rank(clients, known.id, parameters)

        results = asyncio.run(run())
    write_json(json_file, results.model_dump(mode="json"))
    if str(json_file) != "-":
        ranking.print_ranking(Console(), results)
