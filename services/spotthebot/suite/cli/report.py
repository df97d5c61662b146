"""`stb report`: a campaign's report as a page to read and as tables."""

import asyncio
from typing import Any

from spotthebot.analytics.report import write_report
from spotthebot.contracts.analytics import Analysis, Stability, StabilityIn
from spotthebot.suite.cli.analysis_options import (
    Campaign,
    ReportFolder,
    StabilityOption,
    StabilityRule,
    StabilityRuleOption,
    takes_parameters,
)
from spotthebot.suite.cli.options import check_folder
from spotthebot.suite.cli.service_options import reads_services
from spotthebot.suite.progress import screen, showing_progress
from spotthebot.suite.resources import Campaigns, find
from spotthebot.suite.runtime.session import Services, connect, open_session
from spotthebot.suite.studies import ranking
from spotthebot.suite.studies.report import compute_stability, find_stability


@reads_services
@takes_parameters
def report(
    services: Services,
    campaign: Campaign,
    out: ReportFolder,
    parameters: dict[str, Any],
    stability: StabilityOption = False,
    stability_rule: StabilityRuleOption = StabilityRule.PERCENTILE,
) -> None:
    """Write a campaign's report: one HTML page, and its tables as CSV, JSON and LaTeX."""
    check_folder(out)
    with open_session(services) as session:

        async def run() -> tuple[Analysis, Stability | None]:
            async with connect(session) as clients:
                known = await find(Campaigns(clients), campaign)
                with showing_progress() as steps:
                    with steps.step("Computing the results", total=1):
                        analysis = await ranking.rank(clients, known.id, parameters)
                    if stability:
                        stability_request = StabilityIn(
                            campaign_id=known.id,
                            filter=parameters["filter"],
                            rule=stability_rule.value,
                            seed=analysis.seed,
                        )
                        return analysis, await compute_stability(clients, stability_request, steps)
                return analysis, await find_stability(clients, known.id)

        analysis, stable = asyncio.run(run())
    write_report(analysis, stable, out)
    screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
