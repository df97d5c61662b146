"""`stb evaluate`: evaluates bots without people."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.evaluation_results import Extras, Result, compute
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.rejected_rows import print_rejected
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.commands.table_options import map_table, read_words
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration
from spotthebot.cli.evaluations.declaration_file import DeclaredEvaluation, PlayMode, read_evaluation
from spotthebot.cli.evaluations.people import table_of
from spotthebot.cli.evaluations.run import Evaluation, evaluate
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.importers.tables.comparisons import Comparisons, Reading
from spotthebot.importers.tables.ratings import read_ratings
from spotthebot.local.progress import Steps, say, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session
from spotthebot.readers.meanings.columns import Kind

_INTERRUPTED: Final = 130


File = Annotated[
    Path | None,
    typer.Argument(
        exists=True,
        dir_okay=False,
        help='YAML file that declares the evaluation: see "Rank bots without people" in the documentation.',
    ),
]


@takes_services
def bipartite(
    services: Services,
    file: File = None,
    json_file: JsonFile = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Play self-play and all-play-all, too, and correlate the three.")
    ] = False,
    people: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATINGS",
            help="A campaign, study, collection of chats, or table of ratings: do people rank the bots alike? Repeat.",
        ),
    ] = None,
    rated: Annotated[
        str | None, typer.Option(help="The question that people answered; else the one named as the dimension.")
    ] = None,
    stability: Annotated[
        bool, typer.Option("--stability", help="Show how many dialogues of a pair give a stable order.")
    ] = False,
    by_partner: Annotated[bool, typer.Option("--by-partner", help="Show each target's scores by partner.")] = False,
    unfavoured: Annotated[
        str | None, typer.Option(metavar="BOT", help="Show who wins over it where --similar bots stack the pool.")
    ] = None,
    similar: Annotated[
        str | None, typer.Option(metavar="BOTS", help="Names with commas of bots that resemble the unfavoured one.")
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="A partner set's file: rank beside its reference bots. Repeat."),
    ] = None,
    schema: Schema = False,
) -> None:
    """Rank bots by FED after bipartite-play. A second run with the same file continues where it stopped."""
    if schema:
        print_schema(EvaluationDeclaration)
        return
    extras = Extras(
        compare=compare or bool(people),
        people=tuple(people or ()),
        rated=rated,
        stability=stability,
        by_partner=by_partner,
        unfavoured=unfavoured,
        references=tuple(reference or ()),
        similar=tuple(name.strip() for name in (similar or "").split(",") if name.strip()),
    )
    _evaluate(required(file), PlayMode.BIPARTITE, json_file, services, extras)


@takes_services
def self_play(services: Services, file: File = None, json_file: JsonFile = None) -> None:
    """Rank bots by FED after self-play. A second run with the same file continues where it stopped."""
    _evaluate(required(file), PlayMode.SELF_PLAY, json_file, services, Extras())


@takes_services
def all_play_all(services: Services, file: File = None, json_file: JsonFile = None) -> None:
    """Rank bots by FED after all-play-all. A second run with the same file continues where it stopped."""
    _evaluate(required(file), PlayMode.ALL_PLAY_ALL, json_file, services, Extras())


def _evaluate(path: Path, mode: PlayMode, json_file: Path | None, services: Services, extras: Extras) -> None:
    check_output(json_file)
    with declaration_faults():
        declared = read_evaluation(path, mode)
        _check_pool(extras, declared.request)
        tables = [read_table_of_ratings(file) for name in extras.people if (file := table_of(name)) is not None]
        with open_session(services) as session, showing_progress() as steps:
            say_session(session)
            try:
                result = asyncio.run(_run(session, declared, mode, steps, extras, tables))
            except KeyboardInterrupt:
                say("Stopped. The same command goes on with it.")
                raise typer.Exit(_INTERRUPTED) from None
    write_json(json_file, result.to_json())
    if str(json_file) != "-":
        result.show(Console())


async def _run(
    session: Session,
    declared: DeclaredEvaluation,
    mode: PlayMode,
    steps: Steps,
    extras: Extras,
    tables: list[Comparisons],
) -> Result:
    async with connect(session) as clients:

        async def play(mode: PlayMode, bots: tuple[str, ...] = ()) -> Evaluation:
            return await evaluate(clients, session.folder, declared, mode, steps, bots=bots)

        return await compute(clients, play, declared, mode, extras, tables)


def _check_pool(extras: Extras, request: EvaluationDeclaration) -> None:
    """Raise a usage error if the bots of `--unfavoured` and `--similar` make no unfair pool.

    Called before any conversation begins.
    """
    partners = () if isinstance(request.partners, PartnerSetRef) else request.partners
    for number, bot in enumerate(extras.similar):
        role = "a target" if bot in request.bots else "a partner" if bot in partners else ""
        if role or bot in extras.similar[:number]:
            message = f"'{bot}' is {role or 'named twice'}: name bots that are not in the pool, each once"
            raise typer.BadParameter(message, param_hint="--similar")
    if extras.unfavoured is not None and extras.unfavoured not in request.bots:
        message = f"'{extras.unfavoured}' is not one of the file's bots: {', '.join(request.bots)}"
        raise typer.BadParameter(message, param_hint="--unfavoured")
    if (extras.unfavoured is None) != (not extras.similar):
        message = "name a bot with --unfavoured and bots that resemble it with --similar"
        raise typer.BadParameter(message, param_hint="--unfavoured, --similar")


def read_table_of_ratings(file: Path) -> Comparisons:
    """Read people's ratings of bots from a table, as `stb analyse table` does; raises the errors of its package."""
    words = read_words(None, None)
    mapped = map_table(file, (Kind.RATINGS,), None, words)
    found = read_ratings(mapped.table, mapped.mapping, Reading(words))
    print_rejected(found.tally.rejected)
    return found
