"""`stb bots`: lists, shows and removes bots, and lists their versions and conversations."""

from typing import Annotated, Any

import typer

from spotthebot.cli.commands.bot_protocols import print_findings
from spotthebot.cli.commands.options import NAMED, AsJson
from spotthebot.cli.commands.resource_commands import Yes, ask, confirm, dumped, list_all, print_json
from spotthebot.cli.commands.resource_tables import ID, print_facts, print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Bots, owner
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.bots.probes import ProbeOut
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.bots.registry import BotChangesIn, BotOut, BotStatus, BotVersionOut
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.kit.text.characters import printable
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

Bot = Annotated[str, typer.Argument(metavar="BOT", help=f"{NAMED} the bot.")]
_NONE = "There is no bot that this key sees: ./stb bots register makes one."


@reads_services
def list_bots(
    services: Services,
    every: Annotated[bool, typer.Option("--all", help="Those that were removed, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List bots; with a team's key, only the team's bots."""
    found = [each for each in list_all(services, Bots) if every or each.status is not BotStatus.RETIRED]
    if as_json:
        print_json({"bots": dumped(found)})
        return
    rows = ((each.name, each.team, each.status, each.version, each.id) for each in found)
    print_list(("Name", "Team", "Status", "Version", ID), rows, empty=_NONE)


@reads_services
def show(services: Services, bot: Bot, as_json: AsJson = False) -> None:
    """Show a bot, its protocol and the findings of its last probe."""

    async def read(clients: Clients) -> BotOut:
        return await find(Bots(clients), bot)

    found = ask(services, read)
    if as_json:
        print_json(found)
        return
    print_bot(found)
    if found.probe is not None:
        print_findings(found.probe)


@reads_services
def probe(services: Services, bot: Bot) -> None:
    """Probe a bot now; exit code 1 if it can't take part."""

    async def look(clients: Clients) -> ProbeOut:
        return await clients.bots.probe_bot((await find(Bots(clients), bot)).id)

    made = ask(services, look)
    print_findings(made.report)
    if not made.report.passed:
        raise typer.Exit(1)


@reads_services
def versions(services: Services, bot: Bot, as_json: AsJson = False) -> None:
    """List the versions of a bot, with the settings and the start of each."""

    async def read(clients: Clients) -> list[BotVersionOut]:
        found = await find(Bots(clients), bot)
        return [each async for each in clients.bots.list_bot_versions(found.id)]

    found = ask(services, read)
    if as_json:
        print_json({"versions": dumped(found)})
        return
    rows = ((each.number, each.created_at, described(each.protocol), each.configuration_sha256[:12]) for each in found)
    print_list(("Version", "Since", "Asked by", "Configuration"), rows, empty=_NONE)


@reads_services
def conversations(
    services: Services,
    bot: Bot,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many to list at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the conversations of a bot, oldest first; --json includes their turns.

    A team does not see the names of partners.
    """

    async def read(clients: Clients) -> tuple[list[ConversationOut], bool]:
        found = await find(Bots(clients), bot)
        listed: list[ConversationOut] = []
        async for each in clients.conversations.list_conversations_of_bot(found.id, page_size=min(limit + 1, 1000)):
            if len(listed) == limit:
                return listed, True
            listed.append(each)
        return listed, False

    found, has_more = ask(services, read)
    if as_json:
        print_json({"conversations": dumped(found), "has_more": has_more})
    else:
        rows = ((*(side.name for side in each.participants), each.state, len(each.turns), each.id) for each in found)
        empty = "It took part in no conversation yet: ./stb collect begins some."
        print_list(("Begins", "Answers", "State", "Turns", ID), rows, empty=empty)
    if has_more:
        say(f"The first {limit}: --limit shows more.")


@reads_services
def remove(
    services: Services,
    bot: Bot,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete a mistaken registration: only a bot that took part in nothing.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Retire a bot for good: it gets no more requests; its conversations stay. Asks for a confirmation."""

    async def retire(clients: Clients) -> BotOut | None:
        found = await find(Bots(clients), bot)
        if delete:
            await confirm(f"Bot {printable(found.name)} ({found.id}) will be deleted for good.", yes=yes)
            await clients.bots.delete_bot(found.id)
            return None
        if found.status is not BotStatus.RETIRED:
            name = printable(found.name)
            await confirm(
                f"Bot {name} ({found.id}) will be asked nothing more, for good; its conversations stay.", yes=yes
            )
        return await clients.bots.change_bot(found.id, BotChangesIn(status=BotStatus.RETIRED))

    retired = ask(services, retire)
    if retired is None:
        say("The bot is deleted.")
        return
    say(f"Bot {printable(retired.name)} ({retired.id}): {retired.status}")


def print_bot(bot: BotOut) -> None:
    """Print the facts about a bot."""
    limits = bot.limits
    per_minute = "" if limits.requests_per_minute is None else f", {limits.requests_per_minute} a minute"
    facts: dict[str, Any] = {
        "Name": bot.name,
        "Id": bot.id,
        "Team": owner(bot.team),
        "Public": "yes" if bot.public else "no",
        "Description": bot.description or None,
        "Domains": ", ".join(bot.domains),
        "Status": bot.status,
        "Reason": bot.status_reason,
        "Version": bot.version,
        "Asked by": described(bot.protocol),
        "Secret": "kept" if bot.has_secret else "none",
        "Limits": f"{limits.concurrency} at a time{per_minute}, {limits.timeout_seconds:g} s for a reply",
        "Configuration": bot.configuration_sha256,
        "Registered": bot.created_at,
    }
    print_facts(facts)


def described(protocol: Protocol) -> str:
    """Return a description of a protocol: its kind, its model and its address."""
    fields = protocol.model_dump(mode="json")
    parts = [fields.get(name) for name in ("kind", "model", "url", "base_url")]
    return " ".join(str(part) for part in parts if part)
