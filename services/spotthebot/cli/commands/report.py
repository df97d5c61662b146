"""`stb report`: the report of a campaign or a study, as a page to read and as tables."""

import asyncio
from typing import Annotated, Any, Final

import typer

from spotthebot.cli.commands.agreement import Periods, days_of
from spotthebot.cli.commands.analysis_options import (
    SAMPLES,
    Annotators,
    AnnotatorsOption,
    Ranked,
    ReportFolder,
    SamplesOption,
    StabilityOption,
    StabilityRuleOption,
    options_of_labels,
    require_no_options,
    takes_parameters,
)
from spotthebot.cli.commands.computed_measures import (
    LatencyOption,
    PluginsOption,
    ScoresOption,
    computed_measures,
)
from spotthebot.cli.commands.judges_in_results import JudgesOption, say_judges, with_judges
from spotthebot.cli.commands.options import check_folder
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.errors import NotInReport
from spotthebot.cli.resources.directories import CampaignsAndStudies
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.report import ReportRequest, read_analysis_report, read_measures_report, read_study_report
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.local.progress import screen, showing_progress
from spotthebot.local.report.files import write_report
from spotthebot.local.report.report import Report
from spotthebot.local.runtime.session import Services, connect, open_session

_BY_MEASURE: Final = "rank CAMPAIGN --measure NAME"
_BY_PERIOD: Final = "campaigns agreement CAMPAIGN --period DAY"


@reads_services
@takes_parameters
def report(
    services: Services,
    name: Ranked,
    out: ReportFolder,
    parameters: dict[str, Any],
    stability: StabilityOption = False,
    stability_rule: StabilityRuleOption = "percentile",
    annotators: AnnotatorsOption = Annotators.CODES,
    samples: SamplesOption = SAMPLES,
    mixed_model: Annotated[
        MixedModelKind | None,
        typer.Option(
            help="Fit this mixed model to every rating, too, as papers do: a published form, not our inference."
        ),
    ] = None,
    judges: JudgesOption = None,
    scores: ScoresOption = None,
    latency: LatencyOption = False,
    period: Periods = None,
    plugin: PluginsOption = None,
) -> None:
    """Write the report of a campaign or a study: one HTML page, and its tables as CSV, JSON and LaTeX."""
    check_folder(out)
    if judges and stability:
        message = "Stability is of people's labels alone: leave out --judges, or --stability."
        raise typer.BadParameter(message, param_hint="--stability")
    request = ReportRequest(
        parameters=with_judges(parameters, judges),
        computed=computed_measures(scores, plugin, latency=latency),
        mixed_model=mixed_model,
        stability_rule=stability_rule if stability else None,
        has_names=annotators is Annotators.NAMES,
        samples=samples,
        periods=days_of(period),
    )
    with open_session(services) as session:

        async def run() -> Report:
            async with connect(session) as clients:
                known = await find(CampaignsAndStudies(clients), name)
                if isinstance(known, StudyOut):
                    require_no_options(
                        f"the study '{known.name}'",
                        [*_options_of_labels(request), *(f"--{each}" for each in request.computed)],
                    )
                    with showing_progress() as steps:
                        return await read_study_report(clients, known, request, steps)
                if known.protocol in LABELS_OF_SPEAKERS:
                    if mixed_model is not None:
                        raise NotInReport(
                            protocol=known.protocol, what="mixed models", instead=f"{_BY_MEASURE} --mixed-model KIND"
                        )
                    if period:
                        raise NotInReport(protocol=known.protocol, what="agreement by period", instead=_BY_PERIOD)
                    if request.computed:
                        option = " ".join(f"--{each}" for each in request.computed)
                        raise NotInReport(
                            protocol=known.protocol,
                            what="measures without annotators",
                            instead=f"{_BY_MEASURE} {option}",
                        )
                    with showing_progress() as steps:
                        return await read_analysis_report(clients, known, request, steps)
                require_no_options(f"the protocol '{known.protocol}'", _options_of_labels(request))
                with showing_progress() as steps:
                    return await read_measures_report(clients, known, request, steps)

        found = asyncio.run(run())
    write_report(found, out)
    screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
    say_judges(judges, found.result)


def _options_of_labels(request: ReportRequest) -> list[str]:
    """Return the options of the command that have no meaning for results by measures."""
    chosen = {
        "--stability": request.stability_rule is not None,
        "--annotators": request.has_names,
        "--samples": request.samples not in {0, SAMPLES},
    }
    return [*(option for option, is_chosen in chosen.items() if is_chosen), *options_of_labels(request.parameters)]
