"""Tables of FED scores. Next to each score they show the baseline: the score predicted from the length alone."""

import math
from typing import Final

from rich.console import Console
from rich.table import Column

from spotthebot.cli.results.figures import interval_of, number
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.fed.score_jobs import DimensionScoresOut
from spotthebot.local.scoring.dialogue_files import ReadDialogues
from spotthebot.local.scoring.run import Scored, correlate_ratings

_MAX_SHOWN: Final = 40


def bot_scores_table(scores: DimensionScoresOut, title: str) -> Table:
    """Return a table of bots, best first, with each bot's rank, score, and baseline predicted from the length alone."""
    columns = ("Score", f"{scores.confidence_level:.0%}", "Length says", "Beyond length")
    table = Table("Rank", "Bot", *map(_right, columns), title=title, keys=2)
    for each in scores.bots:
        ranks = f"{each.rank_low}-{each.rank_high}" if each.rank_low != each.rank_high else str(each.rank_low)
        shown = [number(value, 3) for value in (each.score, each.length_baseline, each.beyond_length)]
        table.add_row(ranks, each.bot, shown[0], interval_of(each.low, each.high, 3), *shown[1:])
    return table


def print_scores(console: Console, scored: Scored) -> None:
    """Print each score with its baseline, and the share of each dimension's variance that the length explains."""
    table = Table("Dialogue", "Turn", "Dimension", *map(_right, ("Score", "Length says", "Beyond length")), keys=3)
    for each in scored.scores[:_MAX_SHOWN]:
        beyond = None if each.baseline is None else each.score.score - each.baseline
        shown = [number(value, 4) for value in (each.score.score, each.baseline, beyond)]
        table.add_row(_plain(each.dialogue), str(each.turn), each.score.dimension, *shown)
    console.print(table)
    if len(scored.scores) > _MAX_SHOWN:
        console.print(f"The first {_MAX_SHOWN} of {len(scored.scores):,} scores; --json writes all.", highlight=False)
    summary = Table("Dimension", *map(_right, ("Contexts", "Mean score", "Explained by length")))
    for name, line in scored.baselines.items():
        own = [each.score.score for each in scored.scores if each.score.dimension == name]
        share = "-" if line is None or line.r2 is None else f"{line.r2:.0%}"
        summary.add_row(name, str(len(own)), number(math.fsum(own) / len(own) if own else None, 4), share)
    console.print(summary)
    shortened = len({(each.dialogue, each.turn) for each in scored.scores if each.turns_left_out})
    if shortened:
        console.print(f"{shortened} contexts lost their oldest turns, which the model could not read.", highlight=False)


def print_correlations(console: Console, read: ReadDialogues, scored: Scored) -> None:
    """Print the correlations of scores and lengths with the published ratings, and the correlation between raters."""
    table = Table("Rated", "Score", *map(_right, ("Items", "FED", "Length", "FED less length", "People")), keys=2)
    for each in correlate_ratings(read, scored):
        found = (each.scores, each.lengths, each.lead)
        intervals = [_interval(one.estimate, one.low, one.high) for one in found]
        table.add_row(
            each.label, each.dimension or "mean of all", str(each.scores.n), *intervals, number(each.people, 3)
        )
    console.print("Spearman's rho with the mean ratings, 95 % intervals; of halves of the people:", highlight=False)
    console.print(table)


def _interval(estimate: float | None, low: float | None, high: float | None) -> str:
    if estimate is None:
        return "-"
    bounds = "" if low is None else f" ({low:z.2f} to {high:z.2f})"
    return f"{estimate:z.3f}{bounds}"


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _right(name: str) -> Column:
    return Column(name, justify="right")
