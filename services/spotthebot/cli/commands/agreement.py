"""`stb campaigns agreement` and `stb studies agreement`: how much the annotators of each workforce agree."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spotthebot.cli.commands.analysis_options import options_of_labels, require_no_options, takes_parameters
from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.commands.study_control import Study
from spotthebot.cli.resources.directories import Campaigns, Studies
from spotthebot.cli.resources.resolver import find
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.annotation_quality import Coefficient
    from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut

Periods = Annotated[
    list[datetime] | None,
    typer.Option(
        "--period",
        formats=["%Y-%m-%d"],
        metavar="DAY",
        help="Day (UTC) on which a new period begins, such as a pilot round; repeat it for more.",
    ),
]
_COLUMNS = (
    "Task",
    "Period",
    "Frontend",
    "Shared link",
    "Dialogues",
    "Annotators",
    "Measure",
    "Alpha",
    "Interval",
    "Compared",
)


@reads_services
@takes_parameters
def of_campaign(
    services: Services,
    campaign: Campaign,
    parameters: dict[str, Any],
    period: Periods = None,
    json_file: JsonFile = None,
) -> None:
    """Show how much the annotators of each workforce of a campaign agree, in all labels and by each measure."""
    check_output(json_file)

    async def read(clients: Clients) -> "WorkforceAgreementsOut":
        found = await find(Campaigns(clients), campaign)
        require_no_options("agreement by workforce", options_of_labels(parameters))
        return await clients.analytics.list_workforce_agreements(found.id, period=days_of(period), **parameters)

    _show(ask(services, read), json_file)


@reads_services
@takes_parameters
def of_study(
    services: Services,
    study: Study,
    parameters: dict[str, Any],
    period: Periods = None,
    json_file: JsonFile = None,
) -> None:
    """Show how much the annotators of each workforce of each task of a study agree, in all labels and by each."""
    check_output(json_file)

    async def read(clients: Clients) -> "WorkforceAgreementsOut":
        found = await find(Studies(clients), study)
        require_no_options("agreement by workforce", options_of_labels(parameters))
        return await clients.analytics.list_study_workforce_agreements(found.id, period=days_of(period), **parameters)

    _show(ask(services, read), json_file)


def _show(found: "WorkforceAgreementsOut", json_file: JsonFile) -> None:
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    rows = (
        (
            each.task,
            each.period,
            "all" if each.frontend is None else each.frontend or "import",
            each.link,
            each.conversations,
            each.annotators,
            measure,
            _number(alpha.estimate),
            _interval(alpha),
            alpha.n,
        )
        for each in found.workforces
        for measure, alpha in (("all labels", each.alpha), *((of.measure, of.alpha) for of in each.measures))
    )
    print_list(_COLUMNS, rows, empty=f"Nobody has annotated {found.name}.")
    if found.undated and any(each.since or each.until for each in found.workforces):
        say(f"{found.undated} annotations have no time: they are of no period.")
    if found.preliminary:
        say("Preliminary: annotations are still missing.")


def days_of(period: list[datetime] | None) -> list[date]:
    """Return the days on which periods begin."""
    return [each.date() for each in period or ()]


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:z.3f}"


def _interval(alpha: "Coefficient") -> str | None:
    return None if alpha.low is None or alpha.high is None else f"{alpha.low:z.3f} to {alpha.high:z.3f}"
