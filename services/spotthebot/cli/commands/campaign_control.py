"""`stb campaigns`: lists, shows, opens, pauses and closes campaigns, and releases their results."""

from collections import Counter
from typing import Annotated, Any
from uuid import UUID

import typer

from spotthebot.cli.commands.options import NAMED, AsJson
from spotthebot.cli.commands.resource_commands import Yes, ask, confirm, dumped, list_all, print_json
from spotthebot.cli.commands.resource_tables import ID, print_facts, print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.commands.value_files import Events, Every, ValuesFile, filter_of, say_values, write_values
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.clients import Forbidden
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.trainings import TrainingResultsOut, WorkforceResultOut
from spotthebot.contracts.annotation.verdicts import words_of
from spotthebot.kit.text.characters import printable
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

Campaign = Annotated[str, typer.Argument(metavar="CAMPAIGN", help=f"{NAMED} the campaign.")]
_SOURCES = {"live": None, "uploaded": "packages that were uploaded", "import": "annotations that were made elsewhere"}
_KINDS = {
    AnnotatorKind.PERSON: "people",
    AnnotatorKind.SIMULATED: "simulated annotators",
    AnnotatorKind.JUDGE: "judges",
}
Margin = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Difference of win rates up to which bots are equivalent; without it, the campaign's margin.",
    ),
]


@reads_services
def list_campaigns(services: Services, as_json: AsJson = False) -> None:
    """List campaigns with their progress."""
    found = list_all(services, Campaigns)
    if as_json:
        print_json({"campaigns": dumped(found)})
        return
    rows = ((each.name, each.state, _annotations(each), each.id) for each in found)
    empty = "There is no campaign: ./stb campaign FILE makes one, ./stb import and ./stb demo do."
    print_list(("Name", "State", "Annotations", ID), rows, empty=empty)


@reads_services
def show(services: Services, campaign: Campaign, as_json: AsJson = False) -> None:
    """Show a campaign: its protocol, its progress and its collections."""

    async def read(clients: Clients) -> tuple[CampaignOut, list[str], str | None]:
        found = await find(Campaigns(clients), campaign)
        names = [(await clients.conversations.get_collection(each)).name for each in found.collections]
        return found, names, await _annotators(clients, found.id)

    found, collections, annotators = ask(services, read)
    if as_json:
        print_json(found)
        return
    times = "once" if found.submitted == 1 else f"{found.submitted} times"
    pay = None if found.pay_per_package is None else f"{found.pay_per_package} {found.currency} a package"
    facts: dict[str, Any] = {
        "Name": found.name,
        "Id": found.id,
        "State": found.state,
        "Failure": found.failure,
        "Source": _SOURCES[found.mode],
        "Domain": found.domain,
        "Collections": ", ".join(collections),
        "Protocol": f"{found.protocol}, version {found.protocol_version}",
        "Segments": ", ".join(map(str, found.segments)),
        "Packages": f"{found.packages}, each of {found.package_size} items at most, submitted {times}",
        "Annotations": f"{_annotations(found)}, {found.annotations_per_segment} of each item",
        "Annotators": annotators,
        "Headline measure": found.headline,
        "Pairs": "two dialogues of one person" if found.pairs == "same_person" else None,
        "Equivalent within": found.margin,
        "Pauses by itself": _rule(found),
        "Paused by itself": found.stopped_at and f"{found.stopped_at:%Y-%m-%d %H:%M} UTC, since {found.stop_reason}",
        "Annotated twice": found.units_twice and f"{found.units_twice} dialogues or pairs of dialogues",
        "Pay": pay,
        "Seed": found.seed,
        "Created": found.created_at,
        "Results released to teams": found.released_at,
        "Results made public": found.published_at,
    }
    print_facts(facts)


async def _annotators(clients: Clients, campaign_id: UUID) -> str | None:
    """Return how many annotators of each kind came and how many of them took work; None where the role may not know."""
    try:
        took_work = [(each.kind, each.packages > 0) async for each in clients.annotation.list_annotators(campaign_id)]
    except Forbidden:
        return None
    came = Counter(kind for kind, _ in took_work)
    worked = Counter(kind for kind, works in took_work if works)
    kinds = (
        f"{_KINDS[each]}: {came[each]} came, {worked[each]} took a package" for each in AnnotatorKind if came[each]
    )
    return "; ".join(kinds) or "nobody came yet"


@reads_services
def values(
    services: Services, campaign: Campaign, out: ValuesFile, every: Every = False, events: Events = False
) -> None:
    """Write all that annotators said of bots as a table of ratings, which `stb analyse table` reads."""

    async def read(clients: Clients) -> int:
        found = await find(Campaigns(clients), campaign)
        return await write_values(
            clients.analytics.export_values(found.id, filter=filter_of(every=every)), out, events=events
        )

    say_values(ask(services, read), out, events=events)


@reads_services
def training(services: Services, campaign: Campaign, as_json: AsJson = False) -> None:
    """Show how many people of each workforce passed a campaign's training."""

    async def read(clients: Clients) -> TrainingResultsOut:
        return await clients.annotation.get_training_results((await find(Campaigns(clients), campaign)).id)

    found = ask(services, read)
    if as_json:
        print_json(found)
        return
    rows = (
        (each.frontend, each.link, each.people, each.passed, each.failed, _percent(each.pass_rate), _within(each))
        for each in found.workforces
    )
    columns = ("Frontend", "Shared link", "People", "Passed", "Failed", "Pass rate", "Right enough, by dialogue")
    print_list(columns, rows, empty=f"Nobody has started the training {found.training} in this campaign.")


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"


def _within(workforce: WorkforceResultOut) -> str:
    """Return for each dialogue how many of the people who answered it first made few enough mistakes."""
    return ", ".join(f"{each.within_allowed} of {each.people}" for each in workforce.dialogues)


@reads_services
def open_campaign(services: Services, campaign: Campaign) -> None:
    """Let annotators claim packages of a draft or of a paused campaign."""

    async def change(clients: Clients) -> CampaignOut:
        return await clients.annotation.open_campaign((await find(Campaigns(clients), campaign)).id)

    _say_state(ask(services, change))


@reads_services
def pause(services: Services, campaign: Campaign) -> None:
    """Pause a campaign: nobody can claim packages until it is opened again; claimed packages can be submitted."""

    async def change(clients: Clients) -> CampaignOut:
        return await clients.annotation.pause_campaign((await find(Campaigns(clients), campaign)).id)

    _say_state(ask(services, change))


@reads_services
def close(services: Services, campaign: Campaign, yes: Yes = False) -> None:
    """End a campaign with the annotations that it has. Asks for a confirmation."""

    async def change(clients: Clients) -> CampaignOut:
        found = await find(Campaigns(clients), campaign)
        if found.state is not CampaignState.CLOSED:
            name = printable(found.name)
            await confirm(
                f"Campaign {name} ({found.id}) ends for good with {_annotations(found)} annotations.", yes=yes
            )
        return await clients.annotation.close_campaign(found.id)

    _say_state(ask(services, change))


@reads_services
def delete(services: Services, campaign: Campaign, yes: Yes = False) -> None:
    """Delete a draft that nobody entered, with its packages. Asks for a confirmation."""

    async def change(clients: Clients) -> CampaignOut:
        found = await find(Campaigns(clients), campaign)
        await confirm(f"The draft {printable(found.name)} ({found.id}) goes for good, with its packages.", yes=yes)
        await clients.annotation.delete_campaign(found.id)
        return found

    deleted = ask(services, change)
    say(f"The draft {printable(deleted.name)} ({deleted.id}) is deleted.")


@reads_services
def release(
    services: Services,
    campaign: Campaign,
    public: Annotated[bool, typer.Option("--public", help="Let everybody see them, on the leaderboard.")] = False,
) -> None:
    """Let teams, or everybody, see the standings of bots in a campaign that has ended."""

    async def change(clients: Clients) -> CampaignOut:
        found = await find(Campaigns(clients), campaign)
        release_results = clients.annotation.publish_results if public else clients.annotation.release_results
        return await release_results(found.id)

    released = ask(services, change)
    seers = "Everybody sees the leaderboard of" if public else "Teams see the standings of their bots in"
    say(f"{seers} the campaign {printable(released.name)} ({released.id}).")


@reads_services
def withdraw(services: Services, campaign: Campaign) -> None:
    """Withdraw a campaign's results: teams and the public can't see them any more."""

    async def change(clients: Clients) -> CampaignOut:
        return await clients.annotation.withdraw_results((await find(Campaigns(clients), campaign)).id)

    withdrawn = ask(services, change)
    say(f"Neither teams nor the public see results of the campaign {printable(withdrawn.name)} ({withdrawn.id}).")


def _annotations(campaign: CampaignOut) -> str:
    return f"{campaign.annotations} of {campaign.annotations_needed}"


def _rule(campaign: CampaignOut) -> str | None:
    return None if campaign.stop_when is None else f"once {words_of(campaign.stop_when)}"


def _say_state(campaign: CampaignOut) -> None:
    say(f"Campaign {printable(campaign.name)} ({campaign.id}): {campaign.state}")


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
        say(
            f"{sum(each.given is not None for each in found)} of {len(found)} pairs are decided. A verdict holds at"
            " every look, so it needs more labels than ./stb rank, which holds for one look."
        )


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:+z.2f}"


def _bounds(pair: PairVerdictOut) -> str | None:
    return None if pair.low is None or pair.high is None else f"{pair.low:+z.2f} to {pair.high:+z.2f}"


def _needs(pair: PairVerdictOut) -> str | None:
    more = {"conversations": pair.more_conversations, "annotators": pair.more_annotators}
    needs = " or ".join(f"{number:,} more {name}" for name, number in more.items() if number is not None)
    return ": ".join(filter(None, (pair.reason, needs))) or None
