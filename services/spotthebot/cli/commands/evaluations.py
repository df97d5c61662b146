"""`stb evaluate`: evaluates bots without people."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Column, Table

from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.fed_tables import bot_scores_table
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.evaluations.comparison import Comparison, RankFlips, compare_modes, find_flips
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration
from spotthebot.cli.evaluations.declaration_file import DeclaredEvaluation, PlayMode, read_evaluation
from spotthebot.cli.evaluations.run import Evaluation, evaluate
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.local.progress import Steps, say, say_repeated_texts, showing_progress
from spotthebot.local.runtime.session import Services, Session, connect, open_session

_INTERRUPTED: Final = 130


File = Annotated[
    Path | None,
    typer.Argument(exists=True, dir_okay=False, help="YAML file that declares the evaluation: see docs/fed.md."),
]


@takes_services
def bipartite(
    services: Services,
    file: File = None,
    json_file: JsonFile = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Play self-play and all-play-all, too, and correlate the three.")
    ] = False,
    unfair: Annotated[
        str | None,
        typer.Option(
            metavar="BOTS",
            help="Names with commas: stack the pool with these bots, and show whose order flips in each mode of play.",
        ),
    ] = None,
    schema: Schema = False,
) -> None:
    """Rank bots by FED after bipartite-play. A second run with the same file continues where it stopped."""
    added = tuple(name.strip() for name in (unfair or "").split(",") if name.strip())
    if schema:
        print_schema(EvaluationDeclaration)
        return
    _evaluate(required(file), PlayMode.BIPARTITE, json_file, services, compare=compare, added=added)


@takes_services
def self_play(services: Services, file: File = None, json_file: JsonFile = None) -> None:
    """Rank bots by FED after self-play. A second run with the same file continues where it stopped."""
    _evaluate(required(file), PlayMode.SELF_PLAY, json_file, services)


@takes_services
def all_play_all(services: Services, file: File = None, json_file: JsonFile = None) -> None:
    """Rank bots by FED after all-play-all. A second run with the same file continues where it stopped."""
    _evaluate(required(file), PlayMode.ALL_PLAY_ALL, json_file, services)


def _evaluate(
    path: Path,
    mode: PlayMode,
    json_file: Path | None,
    services: Services,
    *,
    compare: bool = False,
    added: tuple[str, ...] = (),
) -> None:
    check_output(json_file)
    with declaration_faults():
        declared = read_evaluation(path, mode)
        _check_added(added, declared.request)
        with open_session(services) as session, showing_progress() as steps:
            say_session(session)
            try:
                result = asyncio.run(_run(session, declared, mode, steps, compare=compare, added=added))
            except KeyboardInterrupt:
                say("Stopped. The same command goes on with it.")
                raise typer.Exit(_INTERRUPTED) from None
    write_json(json_file, result.to_json())
    if str(json_file) != "-":
        result.show(Console())


def _check_added(added: tuple[str, ...], request: EvaluationDeclaration) -> None:
    """Raise a usage error if a bot of `--unfair` is named twice, or is in the pool already.

    Called before any conversation begins.
    """
    partners = () if isinstance(request.partners, PartnerSetRef) else request.partners
    for number, bot in enumerate(added):
        role = "a target" if bot in request.bots else "a partner" if bot in partners else ""
        if role or bot in added[:number]:
            message = f"'{bot}' is {role or 'named twice'}: name bots that are not in the pool, each once"
            raise typer.BadParameter(message, param_hint="--unfair")


class _Result:
    """The ranking of an evaluation, and the comparisons with other rankings."""

    def __init__(self, main: Evaluation) -> None:
        self.main = main
        self.modes: list[Evaluation] = []
        self.comparisons: list[Comparison] = []
        self.stacked: list[Evaluation] = []
        self.flips: list[RankFlips] = []

    def to_json(self) -> dict[str, Any]:
        written = self.main.to_json()
        if self.modes:
            written["modes"] = [each.to_json() for each in self.modes]
            written["comparisons"] = [each.to_json() for each in self.comparisons]
        if self.stacked:
            written["stacked"] = [each.to_json() for each in self.stacked]
            written["flips"] = [each.to_json() for each in self.flips]
        return written

    def show(self, console: Console) -> None:
        for each in (self.main, *self.modes):
            print_evaluation(console, each)
        partners = self.main.partner_set
        if partners is not None:
            said = f"Partner set '{partners.name}', version {partners.version}, fingerprint {self.main.fingerprint}:"
            console.print(f"{said} runs with the same fingerprint can be compared.", highlight=False)
        if self.comparisons:
            console.print(_comparisons(self.comparisons))
        if self.stacked:
            for each in self.stacked:
                print_evaluation(console, each)
            console.print(_flips(self.flips))


async def _run(
    session: Session,
    declared: DeclaredEvaluation,
    mode: PlayMode,
    steps: Steps,
    *,
    compare: bool,
    added: tuple[str, ...],
) -> _Result:
    async with connect(session) as clients:

        async def play(mode: PlayMode, bots: tuple[str, ...] = ()) -> Evaluation:
            return await evaluate(clients, session.folder, declared, mode, steps, bots=bots)

        result = _Result(await play(mode))
        if compare:
            result.modes = [await play(PlayMode.SELF_PLAY), await play(PlayMode.ALL_PLAY_ALL)]
            result.comparisons = compare_modes([result.main, *result.modes])
        if added:
            pool = (*declared.request.bots, *added)
            result.stacked = [await play(mode, pool), await play(PlayMode.ALL_PLAY_ALL, pool)]
            fair = [result.main, result.modes[1] if result.modes else await play(PlayMode.ALL_PLAY_ALL)]
            for before, after in zip(fair, result.stacked, strict=True):
                result.flips += find_flips(before, after)
        return result


def print_evaluation(console: Console, played: Evaluation) -> None:
    """Print the ranking by one mode of play. A warning comes first if conversations have the same texts."""
    say_repeated_texts(played.scores.repeated_texts)
    scores = played.scores.dimensions[0]
    console.print(bot_scores_table(scores, f"{scores.dimension}, {played.mode.value.replace('_', '-')}"))


def _comparisons(found: list[Comparison]) -> Table:
    table = Table("Dimension", "Modes", *map(_right, ("Spearman", "p", "Bots")))
    for each in found:
        modes = " and ".join(mode.value.replace("_", "-") for mode in each.modes)
        table.add_row(each.dimension, modes, _figure(each.spearman), _figure(each.p_value), str(each.n))
    return table


def _flips(found: list[RankFlips]) -> Table:
    table = Table("Play", "Dimension", _right("Pairs"), "Whose order flips in the stacked pool")
    for each in found:
        flipped = "; ".join(f"{second} overtakes {first}" for first, second in each.flipped) or "nobody's"
        table.add_row(each.mode.value.replace("_", "-"), each.dimension, str(each.pairs), flipped)
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _right(name: str) -> Column:
    return Column(name, justify="right")
