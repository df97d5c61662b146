"""`stb corpora add`: uploads files of dialogues to a corpus."""

import asyncio
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from pydantic import ValidationError

from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.contracts.conversations.corpora import (
    CorpusFormat,
    CorpusIn,
    CorpusOut,
    CorpusVisibility,
    Upload,
    UploadOut,
)
from spotthebot.importers.corpora import add_file, check_file
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.progress import say, screen, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session


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
    strict: Annotated[bool, typer.Option("--strict", help="Store nothing of a file with a line to reject.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Upload a file to a corpus. A second upload changes nothing; an interrupted upload continues.

    The file is checked first. If none of its dialogues can be stored, no corpus is created.
    """
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
    upload = Upload(form, split, splits, bots_too=with_bots)
    with showing_progress() as steps:
        checked = asyncio.run(check_file(file, upload, steps))
    if not checked.stored or (strict and checked.rejected.count):
        write_json(
            json_file, {"corpus": None, "upload": checked.model_copy(update={"stored": 0}).model_dump(mode="json")}
        )
        _print_counts(checked, "could be stored")
        say("Nothing was stored, and no corpus created.")
        raise typer.Exit(1)
    with open_session(services) as session:
        corpus, done = asyncio.run(_add(session, request, file, upload))
    write_json(json_file, {"corpus": corpus.model_dump(mode="json"), "upload": done.model_dump(mode="json")})
    _print_counts(done, "stored")
    held = ", ".join(f"{count:,} in {split}" for split, count in corpus.dialogues.items()) or "nothing"
    say(f"Corpus {corpus.name} ({corpus.id}) holds {held}: ./stb corpora show {quote(corpus.name)}")
    if done.rejected.count and not done.stored + done.already_there:
        raise typer.Exit(1)


async def _add(session: Session, request: CorpusIn, file: Path, upload: Upload) -> tuple[CorpusOut, UploadOut]:
    async with connect(session) as clients:
        with showing_progress() as steps:
            return await add_file(clients.conversations, request, file, upload, steps)


def _print_counts(done: UploadOut, stored: str) -> None:
    skipped = f", {done.skipped} with bots skipped" if done.skipped else ""
    known = f", {done.already_there} there already" if done.already_there else ""
    screen.print(f"{done.read} dialogues read, {done.stored} {stored}{known}{skipped}", highlight=False)
    screen.print(f"rejected: {done.rejected.count}", highlight=False)
    for each in done.rejected.first:
        screen.print(f"  line {each.line}: {each.reason}", markup=False, highlight=False, soft_wrap=True)
    if done.rejected.count > len(done.rejected.first):
        screen.print(f"  ... and {done.rejected.count - len(done.rejected.first)} more", highlight=False)
