"""`stb judge train`: train a judge on the labels of a campaign."""

from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from spotthebot.cli.commands.options import NAMED
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.annotation.annotations import AnnotatorKind
    from spotthebot.contracts.annotation.campaigns import CampaignOut
    from spotthebot.judges.trained.units import Unit

_MODEL = "Folder of transformers with an encoder or a causal model; without one, text features alone are trained."


@reads_services
def train(
    services: Services,
    campaign: Annotated[str, typer.Option(help=f"{NAMED} the campaign whose labels are learnt.")],
    out: Annotated[Path, typer.Option(help="Folder of the trained judge; new or empty.")],
    name: Annotated[str, typer.Option(help="Name of the judge in the registry.")] = "trained",
    model: Annotated[Path | None, typer.Option(exists=True, file_okay=False, help=_MODEL)] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times that a network sees the labels.")] = 3,
    batch_size: Annotated[int, typer.Option(min=1, help="Segments in a batch.")] = 16,
    learning_rate: Annotated[float, typer.Option(min=0, max=1, help="The highest, at the start.")] = 2e-5,
    max_tokens: Annotated[int, typer.Option(min=8, help="Tokens of a segment; of longer ones the last count.")] = 512,
    seed: Annotated[int, typer.Option(min=0, max=2**62, help="Same seed, same data: same judge on a CPU.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1 ...")] = "cpu",
) -> None:
    """Train a judge on the labels of a campaign. A model never judges a speaker whom it was trained on."""
    # Imported here: scipy takes longer than all that most commands import.
    from spotthebot.judges.trained.campaign import read_units  # noqa: PLC0415 - as above
    from spotthebot.judges.trained.declaration import write_declaration  # noqa: PLC0415 - as above
    from spotthebot.judges.trained.judge import trained_files_sha256  # noqa: PLC0415 - as above
    from spotthebot.judges.trained.options import NetworkOptions  # noqa: PLC0415 - as above
    from spotthebot.judges.trained.train import require_new, train_judge  # noqa: PLC0415 - as above

    require_new(out)
    options = NetworkOptions(epochs, batch_size, learning_rate, max_tokens, seed, device)

    async def read(clients: Clients) -> "tuple[CampaignOut, list[Unit], AnnotatorKind]":
        found = await find(Campaigns(clients), campaign)
        return found, *await read_units(clients.annotation, clients.conversations, found)

    found, units, labels_by = ask(services, read)
    card = train_judge(
        units,
        out,
        campaign=found,
        labels_by=labels_by,
        today=datetime.now(UTC).date(),
        model=model,
        options=options,
        on_fold=lambda speaker: say(f"Training the model that judges {speaker}"),
    )
    for finding in card.findings:
        say(finding)
    file = write_declaration(card, name, trained_files_sha256(out), out)
    say(f"Trained a judge of {len(card.folds)} speakers on {card.scores.labels:,} labels: {out}")
    say(f"Add it: ./stb judge add {quote(str(file))}")
    say(f"Run it: ./stb judge run {quote(name)} --campaign {quote(found.name)} --folder {quote(str(out))}")
