"""Tables of FED's scores, each with what the length of the dialogue says beside it."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Column, Table

from spotthebot.cli.scores.dialogue_files import ReadDialogues
from spotthebot.cli.scores.run import Scored
from spotthebot.contracts.fed.score_jobs import DimensionScoresOut
from spotthebot.fed.domain.context_scores import ContextScore
from spotthebot.fed.domain.published_data import DIMENSION_OF_LABEL
from spotthebot.fed.stats.correlation import Correlation, correlation, lead_over_length
from spotthebot.fed.stats.means import group_means
from spotthebot.fed.stats.split_half import split_half
from spotthebot.kit.text.words import text_hash

_MAX_SHOWN: Final = 40
_OVERALL: Final = "Overall"
_SPLITS: Final = 50


def bot_scores_table(scores: DimensionScoresOut, title: str) -> Table:
    """Return a table of bots, best first, with their ranks, and what length alone says beside each score."""
    columns = ("Score", f"{scores.confidence_level:.0%}", "Length says", "Beyond length")
    table = Table("Rank", "Bot", *map(_right, columns), title=title)
    for each in scores.bots:
        ranks = f"{each.rank_low}-{each.rank_high}" if each.rank_low != each.rank_high else str(each.rank_low)
        bounds = "-" if each.low is None or each.high is None else f"{each.low:.3f} to {each.high:.3f}"
        shown = [_figure(value, 3) for value in (each.score, each.length_baseline, each.beyond_length)]
        table.add_row(ranks, each.bot, shown[0], bounds, *shown[1:])
    return table


def print_scores(console: Console, scored: Scored) -> None:
    """Print each score beside its baseline, and how much of each dimension length explains."""
    table = Table("Dialogue", "Turn", "Dimension", *map(_right, ("Score", "Length says", "Beyond length")))
    for each in scored.scores[:_MAX_SHOWN]:
        beyond = None if each.baseline is None else each.score.score - each.baseline
        shown = [_figure(value) for value in (each.score.score, each.baseline, beyond)]
        table.add_row(_plain(each.dialogue), str(each.turn), each.score.dimension, *shown)
    console.print(table)
    if len(scored.scores) > _MAX_SHOWN:
        console.print(f"The first {_MAX_SHOWN} of {len(scored.scores):,} scores; --json writes all.", highlight=False)
    summary = Table("Dimension", *map(_right, ("Contexts", "Mean score", "Explained by length")))
    for name, line in scored.baselines.items():
        own = [each.score.score for each in scored.scores if each.score.dimension == name]
        share = "-" if line is None or line.r2 is None else f"{line.r2:.0%}"
        summary.add_row(name, str(len(own)), _figure(math.fsum(own) / len(own) if own else None), share)
    console.print(summary)
    shortened = len({(each.dialogue, each.turn) for each in scored.scores if each.turns_left_out})
    if shortened:
        console.print(f"{shortened} contexts lost their oldest turns, which the model could not read.", highlight=False)


def print_correlations(console: Console, read: ReadDialogues, scored: Scored) -> None:
    """Print how scores and lengths correlate with the ratings of the published data, and people with each other."""
    ratings = {each.dialogue.id: each.ratings for each in read.dialogues}
    texts = {each.dialogue.id: text_hash(each.dialogue.texts).hex() for each in read.dialogues}
    labels = sorted({label for each in ratings.values() for label in each})
    table = Table("Rated", "Score", *map(_right, ("Items", "FED", "Length", "FED less length", "People")))
    for label in labels:
        name = DIMENSION_OF_LABEL.get(label, label.lower())
        own = [each for each in scored.scores if label == _OVERALL or each.score.dimension == name]
        if own:
            table.add_row(label, "mean of all" if label == _OVERALL else name, *_cells(own, ratings, texts, label))
    console.print("Spearman's rho with the mean ratings, 95 % intervals; of halves of the people:", highlight=False)
    console.print(table)


def _cells(
    own: list[ContextScore],
    ratings: Mapping[str, Mapping[str, tuple[float, ...]]],
    texts: Mapping[str, str],
    label: str,
) -> list[str]:
    dialogues, scores = group_means([each.score.score for each in own], [each.dialogue for each in own])
    lengths = list({each.dialogue: each.length for each in own}.values())
    given = [ratings[name].get(label, ()) for name in dialogues]
    people = np.full((len(given), max(map(len, given))), np.nan)
    for row, values in zip(people, given, strict=True):
        row[: len(values)] = values
    _, rated = group_means(people.ravel(), np.repeat(np.arange(len(given)), people.shape[1]).tolist())
    own_texts = [texts[name] for name in dialogues]
    found = correlation(scores, rated, dialogue=own_texts)
    length = correlation(lengths, rated, dialogue=own_texts)
    cells = [_interval(each) for each in (found, length, lead_over_length(scores, rated, lengths, dialogue=own_texts))]
    halves = split_half(people, n_splits=_SPLITS).estimate
    return [str(found.n), *cells, "-" if halves is None else f"{halves:.3f}"]


def _interval(found: Correlation) -> str:
    if found.estimate is None:
        return "-"
    bounds = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
    return f"{found.estimate:.3f}{bounds}"


def _figure(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _right(name: str) -> Column:
    return Column(name, justify="right")
