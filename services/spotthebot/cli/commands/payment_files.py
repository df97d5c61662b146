"""`stb campaigns payments` and `stb collections payments`: files by which annotators and people who chat are paid."""

from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.collection_control import Collection
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns, Collections
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.terms import PaymentFile
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services
from spotthebot.local.whole_files import written

Out = Annotated[Path, typer.Option("--out", help="The CSV file.", dir_okay=False)]
Kind = Annotated[
    PaymentFile,
    typer.Option(
        "--kind",
        help="All payments, ids for the panel to approve, or amounts in addition to the panel's reward.",
    ),
]


@reads_services
def of_campaign(services: Services, campaign: Campaign, out: Out, kind: Kind = PaymentFile.PAYMENTS) -> None:
    """Write the file by which a campaign's annotators are paid."""

    async def read(clients: Clients) -> str:
        return await clients.annotation.download_payments((await find(Campaigns(clients), campaign)).id, kind)

    _write(ask(services, read), out)


@reads_services
def of_chats(
    services: Services,
    collection: Collection,
    out: Out,
    kind: Kind = PaymentFile.PAYMENTS,
    first_is_reward: Annotated[
        bool,
        typer.Option("--first-is-reward", help="The panel pays each person's first rated chat itself, as its reward."),
    ] = False,
) -> None:
    """Write the file by which the people who chat in a collection are paid."""

    async def read(clients: Clients) -> str:
        found = await find(Collections(clients), collection)
        return await clients.conversations.download_chat_payments(found.id, kind, first_is_reward=first_is_reward)

    _write(ask(services, read), out)


def _write(content: str, out: Path) -> None:
    with written(out) as file:
        file.write(content.encode())
    say(f"{out}: {content.count(chr(10))} lines")
