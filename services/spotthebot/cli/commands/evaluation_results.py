"""The results of `stb evaluate`: a ranking, and what options add to it, as tables and as JSON."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column

from spotthebot.cli.commands.fed_tables import bot_scores_table
from spotthebot.cli.evaluations.comparison import Comparison, compare_modes
from spotthebot.cli.evaluations.declaration_file import DeclaredEvaluation, PlayMode
from spotthebot.cli.evaluations.partner_sets import rank_beside_files
from spotthebot.cli.evaluations.people import compare_with_people, table_of
from spotthebot.cli.evaluations.run import Evaluation
from spotthebot.cli.results.figures import interval_of, number
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.fed.correlations import CorrelationOut
from spotthebot.contracts.fed.dialogue_scores import OrderStabilityOut, PartnerScoresOut, UnfairPoolOut
from spotthebot.contracts.fed.references import RankingBesideOut
from spotthebot.contracts.fed.system_correlations import SystemCorrelationsOut
from spotthebot.importers.tables.comparisons import Comparisons
from spotthebot.local.progress import say_repeated_texts
from spotthebot.local.runtime.session import Clients


@dataclass(frozen=True)
class Extras:
    """What options of `stb evaluate bipartite` ask for next to the ranking."""

    compare: bool = False
    people: tuple[str, ...] = ()
    rated: str | None = None
    stability: bool = False
    by_partner: bool = False
    unfavoured: str | None = None
    similar: tuple[str, ...] = ()
    references: tuple[Path, ...] = ()


@dataclass
class Result:
    """The ranking of an evaluation, and what its options add."""

    main: Evaluation
    modes: list[Evaluation] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    people: SystemCorrelationsOut | None = None
    stability: OrderStabilityOut | None = None
    partners: list[PartnerScoresOut] = field(default_factory=list)
    stacked: list[Evaluation] = field(default_factory=list)
    pools: list[UnfairPoolOut] = field(default_factory=list)
    beside: RankingBesideOut | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document that `--json` writes."""
        written = self.main.to_json()
        if self.modes:
            written["modes"] = [each.to_json() for each in self.modes]
            written["comparisons"] = [each.to_json() for each in self.comparisons]
        for name, each in (("people", self.people), ("stability", self.stability), ("beside_references", self.beside)):
            if each is not None:
                written[name] = each.model_dump(mode="json")
        if self.partners:
            written["by_partner"] = [each.model_dump(mode="json") for each in self.partners]
        if self.stacked:
            written["stacked"] = [each.to_json() for each in self.stacked]
            written["unfair_pools"] = [each.model_dump(mode="json") for each in self.pools]
        return written

    def show(self, console: Console) -> None:
        """Print all results as tables."""
        for each in (self.main, *self.modes):
            print_evaluation(console, each)
        partners = self.main.partner_set
        if partners is not None:
            said = f"Partner set '{partners.name}', version {partners.version}, fingerprint {self.main.fingerprint}:"
            console.print(f"{said} runs with the same fingerprint can be compared.", highlight=False)
        if self.beside is not None:
            first = self.beside.dimensions[0]
            console.print(bot_scores_table(first, f"{first.dimension}, beside bots that are not here"))
            console.print(f"From the references: {', '.join(self.beside.absent)}.", highlight=False)
        if self.comparisons:
            console.print(_comparisons(self.comparisons))
        if self.people is not None:
            _print_people(console, self.people)
        if self.stability is not None:
            console.print(_stability(self.stability))
        for summary in self.partners:
            console.print(_partners(summary))
        for played, pool in zip(self.stacked, self.pools, strict=True):
            print_evaluation(console, played)
            console.print(_pool(pool, played.mode))


async def compute(
    clients: Clients,
    play: Callable[..., Awaitable[Evaluation]],
    declared: DeclaredEvaluation,
    mode: PlayMode,
    extras: Extras,
    tables: Sequence[Comparisons],
) -> Result:
    """Play a file's evaluation, and compute what the options ask for.

    `play` plays a mode, with the file's bots or with others.
    """
    result = Result(await play(mode))
    if extras.compare:
        result.modes = [await play(PlayMode.SELF_PLAY), await play(PlayMode.ALL_PLAY_ALL)]
        result.comparisons = compare_modes([result.main, *result.modes])
    if extras.people:
        names = [name for name in extras.people if table_of(name) is None]
        played = [*result.modes, result.main]
        result.people = await compare_with_people(clients, played, names, tables, extras.rated)
    if extras.references:
        result.beside = await rank_beside_files(
            clients, result.main.scores.id, result.main.fingerprint, extras.references
        )
    if extras.stability:
        result.stability = await clients.fed.get_order_stability(result.main.scores.id)
    if extras.by_partner:
        bots = [each.bot for each in result.main.ranking()]
        result.partners = [await clients.fed.get_partner_scores(result.main.scores.id, bot) for bot in bots]
    if extras.unfavoured is not None:
        pool = (*declared.request.bots, *extras.similar)
        result.stacked = [await play(PlayMode.ALL_PLAY_ALL, pool), await play(mode, pool)]
        result.pools = [
            await clients.fed.get_unfair_pool(
                each.scores.id, extras.unfavoured, extras.similar, seed=declared.request.seed
            )
            for each in result.stacked
        ]
    return result


def print_evaluation(console: Console, played: Evaluation) -> None:
    """Print the ranking by one mode of play. A warning comes first if conversations have the same texts."""
    say_repeated_texts(played.scores.repeated_texts)
    scores = played.scores.dimensions[0]
    console.print(bot_scores_table(scores, f"{scores.dimension}, {_mode(played.mode)}"))


def _comparisons(found: list[Comparison]) -> Table:
    table = Table("Dimension", "Modes", *map(_right, ("Spearman", "p", "Bots")), keys=2)
    for each in found:
        modes = " and ".join(map(_mode, each.modes))
        table.add_row(each.dimension, modes, number(each.spearman, 3), number(each.p_value, 3), str(each.n))
    return table


def _print_people(console: Console, found: SystemCorrelationsOut) -> None:
    console.print(f"Do scores rank bots as people do? {found.confidence_level:.0%} intervals:", highlight=False)
    for dimension in found.dimensions:
        halves = number(dimension.ceiling.estimate, 3)
        title = (
            f"{dimension.dimension}, rated {dimension.rated}, {len(dimension.systems)} bots, people's halves {halves}"
        )
        table = Table("Play", *map(_right, ("Spearman", "p", "Kendall", "p", "Length alone")), title=title)
        for collected, each in zip(found.score_sets, dimension.score_sets, strict=True):
            table.add_row(
                _mode(collected.mode),
                _interval(each.spearman),
                number(each.spearman.p_value, 3),
                _interval(each.kendall),
                number(each.kendall.p_value, 3),
                _interval(each.length_spearman),
            )
        console.print(table)
    reasons = {each.spearman.reason for dimension in found.dimensions for each in dimension.score_sets}
    for reason in sorted(reasons - {None}, key=str):
        console.print(f"No interval: {reason}.", highlight=False)
    if found.left_out:
        console.print(f"Not in every mode, and left out: {', '.join(found.left_out)}.", highlight=False)


def _stability(found: OrderStabilityOut) -> Table:
    stable = f"stable from {found.stable_from}" if found.stable_from else found.reason or "not stable yet"
    table = Table(_right("Dialogues of a pair"), _right("Same order"), "Commonest order", title=f"Order: {stable}")
    for each in found.points:
        order = " > ".join(" = ".join(bots) for bots in each.clusters)
        table.add_row(str(each.conversations), f"{each.rate:.1%} ({each.low:.1%} to {each.high:.1%})", order)
    return table


def _partners(found: PartnerScoresOut) -> Table:
    table = Table(
        "Rank",
        "Partner",
        *map(_right, ("Score", f"{found.confidence_level:.0%}", "Dialogues")),
        "Example",
        keys=2,
    )
    table.title = f"{found.bot}, {found.dimension}, by partner"
    for each in found.partners:
        ranks = f"{each.rank_low}-{each.rank_high}"
        table.add_row(
            ranks,
            each.partner,
            number(each.score, 3),
            interval_of(each.low, each.high, 3),
            str(each.dialogues),
            str(each.example),
        )
    return table


def _pool(found: UnfairPoolOut, mode: PlayMode) -> Table:
    title = (
        f"Wins over {found.unfavoured} by {found.dimension}, {_mode(mode)}; flips by chance: p = {found.p_value:.3f}"
    )
    table = Table("Fair pool", *map(_right, ("unfair: favoured wins", "unfair: favoured loses")), title=title)
    table.add_row("favoured wins", str(found.wins_both), str(found.wins_fair_only))
    table.add_row("favoured loses", str(found.wins_unfair_only), str(found.wins_neither))
    flipped = [
        f"{each.bot} (p = {each.p_adjusted:.3f})"
        for each in found.favoured
        if (each.fair_lead > 0) != (each.unfair_lead > 0)
    ]
    table.caption = f"Flipped: {', '.join(flipped) or 'nobody'}"
    return table


def _mode(mode: str) -> str:
    return mode.replace("_", "-")


def _interval(found: CorrelationOut) -> str:
    bounds = "" if found.low is None or found.high is None else f"\n{found.low:z.2f} to {found.high:z.2f}"
    return f"{number(found.estimate, 3)}{bounds}"


def _right(name: str) -> Column:
    return Column(name, justify="right")
