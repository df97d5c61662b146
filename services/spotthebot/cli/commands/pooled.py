"""`stb campaigns pooled`: one result of several campaigns, such as one for each domain, and its mean over them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from spotthebot.cli.commands.analysis_options import takes_parameters
from spotthebot.cli.commands.options import NAMED, JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.figures import ranks_of
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.pooled import PooledEstimate, PooledOut

_PARTS: Final[dict[PooledResult, tuple[tuple[str, dict[str, str]], ...]]] = {
    "agreement": (("", {"bot": "Bot", "subject": "Label", "exchanges": "Exchanges"}),),
    "fooling-rates": (("", {"bot": "Bot"}),),
    "win-rates": (("", {"bot": "Bot", "other": "Against"}),),
    "measures": (("", {"bot": "Bot", "subject": "Measure"}),),
    "ranking": (("", {"bot": "Bot", "other": "Against"}),),
    "survival": (
        ("Share not yet spotted as a bot", {"bot": "Bot", "exchanges": "Exchanges"}),
        ("Scores of log-rank tests: above 0, the first is spotted sooner", {"bot": "Bot", "other": "Against"}),
        ("Log hazard ratios: below 0, the feature keeps a speaker unspotted", {"bot": "Bot", "subject": "Feature"}),
    ),
}
"""The tables of a result: title, and the columns that say what an estimate is of, with their headings.

Where there are several, an estimate stands in the one whose last column it has.
"""


@reads_services
@takes_parameters
def pooled(
    services: Services,
    campaigns: Annotated[list[str], typer.Argument(metavar="CAMPAIGN...", help=f"{NAMED} two or more campaigns.")],
    parameters: dict[str, Any],
    result: Annotated[PooledResult, typer.Option(help="What to pool.")] = "agreement",
    json_file: JsonFile = None,
) -> None:
    """Show one result of several campaigns of one protocol, and its mean over them."""
    check_output(json_file)
    if len(campaigns) < 2:
        message = "One campaign has nothing to be pooled with: name two or more."
        raise typer.BadParameter(message, param_hint="CAMPAIGN...")

    async def read(clients: Clients) -> "PooledOut":
        directory = Campaigns(clients)
        ids = [(await find(directory, each)).id for each in campaigns]
        return await clients.analytics.pool_campaigns(result=result, campaigns=ids, **parameters)

    found = ask(services, read)
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    _print_tables(found)
    say(f"{found.method[0].upper()}{found.method[1:]}.")
    for reason in dict.fromkeys(each.uncertainty.reason for each in found.estimates):
        if reason is not None:
            say(f"Some estimates have no interval: {reason}.")
    if found.p_differ is not None:
        say(f"That no speaker differs between campaigns has p = {_p(found.p_differ)} (Welch's tests, corrected).")
    if found.reason is not None:
        say(f"No bot has a rank: {found.reason}.")
    if found.preliminary:
        say("Preliminary: annotations are still missing.")


def _print_tables(found: "PooledOut") -> None:
    names = [each.campaign for each in found.campaigns]
    parts = _PARTS[found.result]
    for title, keys in parts:
        tested = () if "exchanges" in keys else _TESTED.get(found.result, ())
        columns = (*keys.values(), *names, "Mean", f"{found.confidence_level:.0%} interval", *tested)
        rows = [
            (*(getattr(each, key) or "all" for key in keys), *_numbers(each), *(_TESTS[name](each) for name in tested))
            for each in found.estimates
            if len(parts) == 1 or getattr(each, [*keys][-1]) is not None
        ]
        if rows or len(parts) == 1:
            print_list(columns, rows, empty="The campaigns have no such result.", title=title)


def _numbers(each: "PooledEstimate") -> tuple[str | None, ...]:
    interval = None if each.low is None or each.high is None else f"{each.low:z.2f} to {each.high:z.2f}"
    return (*map(_number, each.by_campaign), _number(each.estimate), interval)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:z.2f}"


def _p(value: float | None) -> str | None:
    return None if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


_TESTS: Final[dict[str, Callable[["PooledEstimate"], str | None]]] = {
    "p": lambda each: _p(each.p_value if each.p_adjusted is None else each.p_adjusted),
    "Ranks": lambda each: None if each.rank_low is None else ranks_of(each.rank_low, each.rank_high),
    "p, campaigns differ": lambda each: _p(each.p_differ_adjusted),
}
_TESTED: Final[dict[PooledResult, tuple[str, ...]]] = {
    "fooling-rates": ("p, campaigns differ",),
    "win-rates": ("p", "p, campaigns differ"),
    "ranking": ("p", "Ranks"),
    "survival": ("p",),
}
"""The columns of tests and ranks, after those of the estimates."""
