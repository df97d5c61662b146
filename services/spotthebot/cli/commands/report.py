"""`stb report`: a campaign's report as a page to read and as tables."""

import asyncio
from typing import Any

from spotthebot.analytics.report import Report, write_report
from spotthebot.cli.commands.analysis_options import (
    Annotators,
    AnnotatorsOption,
    Campaign,
    ReportFolder,
    SamplesOption,
    StabilityOption,
    StabilityRule,
    StabilityRuleOption,
    takes_parameters,
)
from spotthebot.cli.commands.options import check_folder
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources import Campaigns, find
from spotthebot.cli.studies import ranking
from spotthebot.cli.studies.design import read_design, read_samples
from spotthebot.cli.studies.report import compute_stability, find_stability, get_annotator_names
from spotthebot.contracts.analytics.analyses import StabilityIn
from spotthebot.local.progress import screen, showing_progress
from spotthebot.local.runtime.session import Services, connect, open_session


@reads_services
@takes_parameters
def report(
    services: Services,
    campaign: Campaign,
    out: ReportFolder,
    parameters: dict[str, Any],
    stability: StabilityOption = False,
    stability_rule: StabilityRuleOption = StabilityRule.PERCENTILE,
    annotators: AnnotatorsOption = Annotators.CODES,
    samples: SamplesOption = 3,
) -> None:
    """Write a campaign's report: one HTML page, and its tables as CSV, JSON and LaTeX."""
    check_folder(out)
    with open_session(services) as session:

        async def run() -> Report:
            async with connect(session) as clients:
                known = await find(Campaigns(clients), campaign)
                # Asked first: a key that may not see names is refused before anything is computed.
                names = await get_annotator_names(clients, known.id) if annotators is Annotators.NAMES else None
                with showing_progress() as steps:
                    with steps.step("Computing the results", total=1):
                        analysis = await ranking.rank(clients, known.id, parameters)
                    with steps.step("Reading conversations", total=1):
                        design = await read_design(clients, known)
                        shown = await read_samples(clients, design, analysis.filter, samples) if samples else None
                    stable = None
                    if stability:
                        request = StabilityIn(
                            campaign_id=known.id,
                            filter=parameters["filter"],
                            rule=stability_rule.value,
                            seed=analysis.seed,
                        )
                        stable = await compute_stability(clients, request, steps)
                stable = stable or await find_stability(clients, known.id)
                return Report(analysis, stable, names, design, shown)

        found = asyncio.run(run())
    write_report(found, out)
    screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
