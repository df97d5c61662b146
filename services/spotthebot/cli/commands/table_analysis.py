"""`stb analyse table`: ranks the bots in a table of votes or of ratings, without a service."""

from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spotthebot.cli.commands.assessment_display import print_assessment
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
from spotthebot.cli.results.figures import interval_of, number, ranks_of
from spotthebot.cli.results.tables import Table as Printed
from spotthebot.contracts.analytics.assessments import Assessment
from spotthebot.contracts.analytics.choices import Clusters, Correction
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.importers.tables.assessment import assess_dimensions, require_outcome
from spotthebot.importers.tables.comparisons import Comparisons, Reading
from spotthebot.importers.tables.errors import VotesNotAssessed
from spotthebot.importers.tables.notes import notes_of
from spotthebot.importers.tables.ranking import (
    RankedDimension,
    RankedVotes,
    RankingSettings,
    rank_dimensions,
    rank_votes,
    require_bots,
)
from spotthebot.importers.tables.ratings import read_ratings
from spotthebot.importers.tables.votes import read_votes
from spotthebot.importers.tables.winners import WinnersAre
from spotthebot.local.progress import say, say_repeated_texts, say_unranked
from spotthebot.readers.files.cells import shown
from spotthebot.readers.files.numbers import Scale
from spotthebot.readers.meanings.columns import COMPARED, Kind


class DecimalMark(StrEnum):
    """The decimal mark of a number."""

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
    clusters: Annotated[Clusters, typer.Option(help="What varies together; conversation: the item.")] = "both",
    correction: Annotated[Correction, typer.Option(help="Of the tests behind the ranks.")] = "holm",
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Of the probabilities of ranks by votes, and of --assess.")
    ] = 0,
    assess: Annotated[
        str | None, typer.Option(metavar="OUTCOME", help="Assess the other measures against this one, such as quality.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Rank the bots of a table of votes or of ratings, or assess its measures, without any service."""
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
    if assess is None:
        require_bots(found, path)
    elif votes:
        raise VotesNotAssessed(file=path.name)
    else:
        require_outcome(found, assess, mapped.mapping, path)
    if not allow_rejected:
        found.tally.require_most(ranked=True)
    settings = RankingSettings.of(
        found,
        path,
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        correction=correction,
    )
    document: dict[str, Any] = {
        "source": path.name,
        "source_sha256": sha256_of(path, values, None),
        "map": dict(mapped.mapping.columns),
        "values": values or [],
        "winners": winners,
        "decimal": decimal,
        "scale": scale,
        "allow_rejected": allow_rejected,
        "settings": settings.arguments | {"seed": seed},
        "version": version("spotthebot"),
        "kind": "votes" if votes else "ratings",
        "read": found.tally.read,
        "notes": notes,
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
    }
    ranked = rank_votes(found, settings, seed=seed) if votes else _of_ratings(found, settings, assess, seed)
    if isinstance(ranked, Assessment):
        document |= ranked.model_dump(mode="json")
    elif isinstance(ranked, RankedVotes):
        document |= ranked.document
    else:
        document["dimensions"] = {each.name: each.document for each in ranked}
    document["rejected"] = [each.summary for each in found.tally.rejected]
    write_json(json_file, document)
    if str(json_file) != "-":
        if isinstance(ranked, Assessment):
            print_assessment(Console(), ranked)
        else:
            _print(Console(), ranked)
        say("Nothing was stored: --json FILE keeps the figures, with the columns and settings that they come from.")


def _of_ratings(
    found: Comparisons, settings: RankingSettings, outcome: str | None, seed: int
) -> Assessment | tuple[RankedDimension, ...]:
    """Rank the bots by each dimension. With an `outcome`, assess the other dimensions against this dimension."""
    if outcome is None:
        return rank_dimensions(found, settings)
    return assess_dimensions(found, outcome, settings, seed=seed)


def _print(console: Console, ranked: RankedVotes | tuple[RankedDimension, ...]) -> None:
    if isinstance(ranked, RankedVotes):
        sentences, tables = ranked.sentences, [_votes_table(ranked), _pairs_table(ranked)]
    else:
        sentences, tables = tuple(each.sentence for each in ranked), [_ratings_table(each) for each in ranked]
    for sentence in sentences:
        console.print(sentence, markup=False, highlight=False)
    for table in tables:
        console.print(table)
    if isinstance(ranked, RankedVotes) and ranked.ranking.reason is None:
        say_unranked([(shown(bot.bot), bot.rank_low, bot.reason) for bot in ranked.ranking.bots])


def _votes_table(ranked: RankedVotes) -> Printed:
    ranking = ranked.ranking
    interval = f"{ranking.confidence_level:.0%} interval"
    columns = ("Cluster", "Bot", "Win rate", interval, "Strength", interval, "Ties", "Ranks", "Votes won or lost")
    table = Printed(*columns, title="Ranking by votes", keys=2)
    strength_of = {strength.bot: strength for strength in ranked.strengths.bots}
    for bot in ranking.bots:
        strength = strength_of[bot.bot]
        table.add_row(
            str(bot.cluster or "-"),
            Text(shown(bot.bot)),
            number(bot.estimate),
            interval_of(bot.low, bot.high),
            number(strength.estimate),
            interval_of(strength.low, strength.high),
            number(bot.tie_rate),
            ranks_of(bot.rank_low, bot.rank_high),
            str(bot.n),
        )
    return table


def _pairs_table(ranked: RankedVotes) -> Printed:
    won = ranked.won
    table = Printed("Bot", "Against", "Won", "Lost", "Win rate", title="Votes of each pair", keys=2)
    for pair in ranked.ranking.pairs:
        counts = (str(won.get(names, 0)) for names in ((pair.bot, pair.other), (pair.other, pair.bot)))
        table.add_row(Text(shown(pair.bot)), Text(shown(pair.other)), *counts, number(pair.estimate))
    return table


def _ratings_table(ranked: RankedDimension) -> Printed:
    ranking = ranked.ranking
    interval = f"{ranking.confidence_level:.0%} interval"
    title = Text(f"Ranking by {shown(ranked.name)}")
    table = Printed("Cluster", "Bot", "Mean", interval, "Ranks", "Ratings", "Items", "Annotators", title=title, keys=2)
    for bot in ranking.bots:
        table.add_row(
            str(bot.cluster),
            Text(shown(bot.bot)),
            number(bot.estimate),
            interval_of(bot.low, bot.high),
            ranks_of(bot.rank_low, bot.rank_high),
            *map(str, (bot.n, bot.uncertainty.conversations, bot.uncertainty.annotators)),
        )
    reasons = dict.fromkeys(bot.reason for bot in ranking.bots if bot.reason)
    if reasons:
        table.caption = Text("No interval: " + "; ".join(reasons))
    return table
