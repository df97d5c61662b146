"""`stb analyse table`: ranks the bots of a table of votes or of ratings where it lies, without any service."""

import dataclasses
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Printed
from rich.text import Text

from spotthebot.analytics.domain.findings import confidence_words, difference_finding, rank_findings
from spotthebot.analytics.stats import (
    Adjustment,
    Clusters,
    DavidsonFit,
    Ranking,
    RatingRanking,
    rank_bots,
    rank_ratings,
    rate_davidson,
)
from spotthebot.cli.commands.analysis_options import Clusters as ClustersOption
from spotthebot.cli.commands.analysis_options import Correction
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.rejected_rows import print_rejected
from spotthebot.cli.commands.table_options import (
    AllowRejectedOption,
    MapOption,
    ValuesOption,
    YesOption,
    confirm,
    map_table,
    read_words,
    sha256_of,
    show_mapping,
)
from spotthebot.cli.errors import OneBotInTable
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.importers.errors import NothingToImport
from spotthebot.importers.tables.cells import shown
from spotthebot.importers.tables.columns import COMPARED, Kind
from spotthebot.importers.tables.comparisons import Comparisons, Reading, games_of, ratings_of
from spotthebot.importers.tables.errors import AnnotatorsUnknown
from spotthebot.importers.tables.notes import notes_of
from spotthebot.importers.tables.numbers import Scale
from spotthebot.importers.tables.ratings import read_ratings
from spotthebot.importers.tables.votes import read_votes
from spotthebot.importers.tables.winners import WinnersAre
from spotthebot.local.progress import say, say_repeated_texts, say_unranked


class DecimalMark(StrEnum):
    """The sign before the fraction of a number."""

    COMMA = ","
    POINT = "."


def analyse_table(
    path: Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines, or an annotation tool's export.")],
    map_: MapOption = None,
    values: ValuesOption = None,
    winners: Annotated[
        WinnersAre | None, typer.Option(help="What a winner such as A is that may be a bot's name and a side.")
    ] = None,
    decimal: Annotated[DecimalMark | None, typer.Option(help="Decimal mark of ratings; else as they show it.")] = None,
    scale: Annotated[
        str | None, typer.Option(help="Lowest and highest rating, such as 1:5; others, such as 99, do not count.")
    ] = None,
    allow_rejected: AllowRejectedOption = False,
    yes: YesOption = False,
    confidence_level: Annotated[float, typer.Option(min=MIN_LEVEL, max=MAX_LEVEL, help="Of intervals.")] = 0.95,
    significance_level: Annotated[
        float, typer.Option(min=MIN_LEVEL, max=MAX_LEVEL, help="Of claims about ranks.")
    ] = 0.05,
    clusters: Annotated[ClustersOption, typer.Option(help="What varies together; conversation: the item.")] = (
        ClustersOption.BOTH
    ),
    correction: Annotated[Correction, typer.Option(help="Of the tests behind the ranks.")] = Correction.HOLM,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of votes: of the probabilities of ranks.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Rank the bots of a table of votes between two bots, or of ratings, without any service."""
    check_output(json_file)
    words = read_words(values, None)
    reading = Reading(words, decimal.value if decimal else None, Scale.parse(scale), winners)
    mapped = map_table(path, COMPARED, map_, words)
    show_mapping(mapped)
    confirm(mapped, yes=yes)
    votes = mapped.mapping.kind is not Kind.RATINGS
    found = (read_votes if votes else read_ratings)(mapped.table, mapped.mapping, reading)
    say(f"{mapped.mapping.kind}: {found.tally.read} rows read")
    notes = notes_of(found)
    for note in notes:
        say(note)
    repeated = found.repeated_texts
    say_repeated_texts(repeated)
    print_rejected(found.tally.rejected)
    _require_bots(found, path)
    if not allow_rejected:
        found.tally.require_most(ranked=True)
    settings: dict[str, Any] = {
        "confidence_level": confidence_level,
        "significance_level": significance_level,
        "clusters": _clusters(clusters, found, path),
        "adjustment": Adjustment(correction.value),
    }
    confidence = confidence_words(significance_level, is_corrected=correction is not Correction.NONE)
    console = Console()
    document: dict[str, Any] = {
        "source": path.name,
        "source_sha256": sha256_of(path, values, None),
        "map": dict(mapped.mapping.columns),
        "values": values or [],
        "winners": winners,
        "decimal": decimal,
        "scale": scale,
        "allow_rejected": allow_rejected,
        "settings": settings | {"seed": seed},
        "version": version("spotthebot"),
        "kind": "votes" if votes else "ratings",
        "read": found.tally.read,
        "notes": notes,
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
    }
    if votes:
        games = games_of(found)
        ranking = rank_bots(games, seed=seed, **settings)
        strengths = rate_davidson(games, confidence_level=confidence_level, clusters=settings["clusters"])
        document["ranking"] = dataclasses.asdict(ranking)
        document["strengths"] = dataclasses.asdict(strengths)
        best_ranks = {bot.bot: bot.rank_low for bot in ranking.bots}
        sentences = rank_findings(ranking.reason, ranking.ranked_by, best_ranks, confidence)
        tables = [_votes_table(ranking, strengths), _pairs_table(ranking, found)]
    else:
        ranked = {name: rank_ratings(ratings_of(found, name), **settings) for name in sorted(found.ratings)}
        document["dimensions"] = {name: dataclasses.asdict(each) for name, each in ranked.items()}
        sentences = tuple(
            difference_finding(f"mean {shown(name)}", {bot.bot: bot.rank_low for bot in each.bots}, confidence)
            for name, each in ranked.items()
        )
        tables = [_ratings_table(name, each) for name, each in ranked.items()]
        ranking = None
    document["rejected"] = [each.summary for each in found.tally.rejected]
    write_json(json_file, _plain(document))
    if str(json_file) == "-":
        return
    for sentence in sentences:
        console.print(sentence, markup=False, highlight=False)
    for table in tables:
        console.print(table)
    if ranking is not None and ranking.reason is None:
        say_unranked([(shown(bot.bot), bot.rank_low, bot.reason) for bot in ranking.bots])
    say("Nothing was stored: --json FILE keeps the figures, with the columns and settings that they come from.")


def _require_bots(found: Comparisons, path: Path) -> None:
    """Raise NothingToImport or OneBotInTable where there is nothing to rank."""
    bots = {bot for vote in found.votes for bot in vote.bots}
    bots |= {rating.bot for ratings in found.ratings.values() for rating in ratings}
    if not bots:
        rejected = found.tally.rejected
        reason = rejected[0].reason if rejected else "it has no rows"
        raise NothingToImport(file=path.name, reason=reason)
    if len(bots) == 1:
        raise OneBotInTable(file=path.name, bot=shown(min(bots)))


def _clusters(option: ClustersOption, found: Comparisons, path: Path) -> Clusters:
    """Return what varies together: annotators only where there are several; raises AnnotatorsUnknown."""
    annotators = found.annotators
    if not annotators and option is ClustersOption.ANNOTATOR:
        raise AnnotatorsUnknown(file=path.name)
    if option is ClustersOption.BOTH and len(annotators) <= 1:
        return Clusters.FIXED_PANEL if annotators else Clusters.CONVERSATION
    return Clusters(option.value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a result with the values of its choices."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, StrEnum) else value


def _votes_table(ranking: Ranking, strengths: DavidsonFit) -> Printed:
    interval = f"{ranking.confidence_level:.0%} interval"
    columns = ("Cluster", "Bot", "Win rate", interval, "Strength", interval, "Ties", "Ranks", "Votes won or lost")
    table = Printed(*columns, title="Ranking by votes")
    strength_of = {strength.bot: strength for strength in strengths.bots}
    for bot in ranking.bots:
        strength = strength_of[bot.bot]
        table.add_row(
            str(bot.cluster or "-"),
            Text(shown(bot.bot)),
            _number(bot.estimate),
            _interval(bot.low, bot.high),
            _number(strength.estimate),
            _interval(strength.low, strength.high),
            _number(bot.tie_rate),
            _ranks(bot.rank_low, bot.rank_high),
            str(bot.n),
        )
    return table


def _pairs_table(ranking: Ranking, found: Comparisons) -> Printed:
    won: dict[tuple[str, str], int] = {}
    for vote in found.votes:
        if vote.outcome:
            winner, loser = vote.bots if vote.outcome > 0 else vote.bots[::-1]
            won[winner, loser] = won.get((winner, loser), 0) + 1
    table = Printed("Bot", "Against", "Won", "Lost", "Win rate", title="Votes of each pair")
    for pair in ranking.pairs:
        counts = (str(won.get(names, 0)) for names in ((pair.bot, pair.other), (pair.other, pair.bot)))
        table.add_row(Text(shown(pair.bot)), Text(shown(pair.other)), *counts, _number(pair.estimate))
    return table


def _ratings_table(name: str, ranking: RatingRanking) -> Printed:
    interval = f"{ranking.confidence_level:.0%} interval"
    title = Text(f"Ranking by {shown(name)}")
    table = Printed("Cluster", "Bot", "Mean", interval, "Ranks", "Ratings", "Items", "Annotators", title=title)
    for bot in ranking.bots:
        table.add_row(
            str(bot.cluster),
            Text(shown(bot.bot)),
            _number(bot.estimate),
            _interval(bot.low, bot.high),
            _ranks(bot.rank_low, bot.rank_high),
            *map(str, (bot.n, bot.uncertainty.conversations, bot.uncertainty.annotators)),
        )
    reasons = dict.fromkeys(bot.reason for bot in ranking.bots if bot.reason)
    if reasons:
        table.caption = Text("No interval: " + "; ".join(reasons))
    return table


def _ranks(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return "-"
    return str(low) if low == high else f"{low} to {high}"


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
