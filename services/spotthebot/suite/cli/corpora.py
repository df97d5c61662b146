"""`stb corpora add`: upload files of dialogues."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError
from rich.table import Table

from spotthebot.contracts.conversations import CorpusFormat, CorpusIn, CorpusOut, CorpusVisibility, UploadOut
from spotthebot.kit.validation import faults_of
from spotthebot.suite.cli.options import (
    JsonFile,
    check_output,
    write_json,
)
from spotthebot.suite.cli.service_options import takes_services
from spotthebot.suite.corpora import add_file
from spotthebot.suite.progress import screen, showing_progress
from spotthebot.suite.runtime.session import Services, Session, connect, open_session


@takes_services
def add(
    services: Services,
    name: Annotated[str, typer.Argument(help="Name of the corpus; a new one is created.")],
    file: Annotated[Path, typer.Argument(help="File of dialogues.", exists=True, dir_okay=False, readable=True)],
    form: Annotated[CorpusFormat, typer.Option("--format", help="How the file is written.")] = CorpusFormat.JSONL,
    split: Annotated[str | None, typer.Option(help="Split of all dialogues; else the file says it.")] = None,
    splits: Annotated[str | None, typer.Option(help="Shares of splits: train:0.8,openings:0.2.")] = None,
    with_bots: Annotated[bool, typer.Option("--with-bots", help="spot_the_bot: dialogues with bots too.")] = False,
    domain: Annotated[str, typer.Option(help="What the dialogues of a new corpus are about.")] = "everyday",
    origin: Annotated[str | None, typer.Option(help="Who wrote or published a new corpus.")] = None,
    licence: Annotated[str, typer.Option(help="Licence of a new corpus.")] = "not stated",
    owner: Annotated[str | None, typer.Option(help="Team that a new corpus belongs to; else the operator.")] = None,
    shared: Annotated[bool, typer.Option("--shared", help="Bots of every team may learn from a new corpus.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Upload a file to a corpus; a second time changes nothing, an interrupted one goes on."""
    check_output(json_file)
    try:
        request = CorpusIn(
            name=name,
            domain=domain,
            origin=origin or file.name,
            licence=licence,
            owner=owner,
            visibility=CorpusVisibility.SHARED if shared else CorpusVisibility.PRIVATE,
        )
    except ValidationError as error:
        raise typer.BadParameter(faults_of(error)[0]) from None
    with open_session(services) as session:
        corpus, done = asyncio.run(_add(session, request, file, form, split, splits, with_bots=with_bots))
    write_json(json_file, {"corpus": corpus.model_dump(mode="json"), "upload": done.model_dump(mode="json")})
    _print_upload(corpus, done)
    if done.rejected.count and not done.stored + done.already_there:
        raise typer.Exit(1)


async def _add(
    session: Session,
    request: CorpusIn,
    file: Path,
    form: CorpusFormat,
    split: str | None,
    splits: str | None,
    *,
    with_bots: bool,
) -> tuple[CorpusOut, UploadOut]:
    speakers: Literal["all"] | None = "all" if with_bots else None
    async with connect(session) as clients:
        with showing_progress() as steps:
            return await add_file(
                clients.conversations, request, file, form, steps, split=split, splits=splits, speakers=speakers
            )


def _print_upload(corpus: CorpusOut, done: UploadOut) -> None:
    skipped = f", {done.skipped} with bots skipped" if done.skipped else ""
    known = f", {done.already_there} there already" if done.already_there else ""
    screen.print(f"{done.read} dialogues read, {done.stored} stored{known}{skipped}", highlight=False)
    screen.print(f"rejected: {done.rejected.count}", highlight=False)
    for each in done.rejected.first:
        screen.print(f"  line {each.line}: {each.reason}", markup=False, highlight=False, soft_wrap=True)
    if done.rejected.count > len(done.rejected.first):
        screen.print(f"  ... and {done.rejected.count - len(done.rejected.first)} more", highlight=False)
    screen.print(_table([corpus]))


def _table(corpora: list[CorpusOut]) -> Table:
    table = Table("Name", "Domain", "Licence", "Owner", "Visibility", "Split", "Dialogues", "Exchanges", "Words a turn")
    for corpus in corpora:
        facts: list[Any] = [
            corpus.name,
            corpus.domain,
            corpus.licence,
            corpus.owner or "operator",
            corpus.visibility,
        ]
        for split, held in corpus.statistics.items():
            table.add_row(
                *facts, split, f"{held.dialogues:,}", f"{held.mean_exchanges:.2f}", f"{held.words_per_turn:.1f}"
            )
            facts = [""] * len(facts)
        if not corpus.statistics:
            table.add_row(*facts, "-", "0", "", "")
    return table
