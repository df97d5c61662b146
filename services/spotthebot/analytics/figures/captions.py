"""The text below each figure. It explains how to read the figure, and which conclusions the figure does not allow."""

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.statistics.uncertainty import Clusters


def ranking(analysis: Analysis) -> str:
    """Explain the dots, bars, bands and squares of the ranking."""
    if analysis.ranking.ranked_by == "fooling_rates":
        return (
            f"A dot is the share of a bot's labels that are human; {_bars(analysis)} No two bots met, so there are no"
            f" win rates.{_bands(analysis)} People have no rank, and show how often people pass. Bars that overlap do"
            " not show that two bots are alike: a bar holds for one bot by itself."
        )
    if analysis.ranking.reason is not None:
        return (
            f"A dot is a bot's mean win rate over the bots that it met, ties left out; {_bars(analysis)} The bots met"
            " different opponents, so the figure does not say which of them is better."
        )
    return (
        f"A dot is a bot's mean win rate over the other bots, ties left out; {_bars(analysis)}{_bands(analysis)} A"
        " square is deeper, the more probable its rank is for that bot by itself, in draws from the estimates'"
        f" distribution. A bar holds for one bot by itself, too{_ranks(analysis)}. Bars that overlap do not show that"
        " two bots are alike, and the rates do not say how good a bot is by itself."
    )


def win_matrix(analysis: Analysis) -> str:
    """Explain the meaning of a coloured cell, and that a cell without colour shows nothing."""
    return (
        f"A cell is the share of decided games (one per {analysis.unit}) that the row won against the column, with wins"
        " and losses where there is room. A cell has the colour of the winner where the difference is significant (*),"
        " deeper with a larger one, and is grey where the two cannot be told apart: which does not show that they are"
        " equal. The ranks compare means over all opponents, so they may tell other pairs apart. Ties are left out."
    )


def features(analysis: Analysis) -> str:
    """Explain how to read the rates and the coefficients of the features."""
    rates = (
        f"A dot is the share of games that a bot won by what was preferred, over the other bots; {_bars(analysis)} SSA:"
        " sensible and specific both. Beyond the dashed line a bot is preferred more often than not."
    )
    if not any(each.low is not None for each in analysis.survival.cox):
        return f"{rates} It does not say why a bot was preferred."
    return (
        f"{rates} Below: what a preference goes along with in the hazard of being spotted; left of 0 fewer are spotted."
        " An interval with less than one degree of freedom is left out. These are associations and no causes."
    )


def survival(analysis: Analysis) -> str:
    """Explain the points of the curves. The lines between them only guide the eye."""
    return (
        "A point is the share of speakers that are not yet taken for a bot after so many exchanges;"
        f" {_bars(analysis)} Points of one length stand side by side. Lines between lengths guide the eye: nothing was"
        " asked there. Intervals are of single points, and overlap does not show that two curves are alike: the"
        " log-rank tests in the table compare curves."
    )


def segments(analysis: Analysis) -> str:
    """Explain the panels. Changes between lengths are not tested."""
    return (
        "Mean win rate over the other bots, ties left out, and the share of labels “human”, by the number of exchanges"
        f" seen; {_bars(analysis)} Points of one length stand side by side, and lines guide the eye. A rise or fall"
        " between two lengths is not tested here."
    )


def stability(analysis: Analysis, found: Stability) -> str:
    """Explain the counts. A stable ranking may still be wrong."""
    return (
        f"Of {found.subsets:,} random subsets of each size, the share that falls into the commonest clusters, with its"
        f" {_level(analysis)} interval as an area; thin lines leave out one bot each, and their"
        " intervals are in the data. A ranking that comes out alike is not thereby right: subsets are of these"
        " conversations and these annotators alone."
    )


def _bands(analysis: Analysis) -> str:
    shared = analysis.ranking.has_shared_ranks
    return " Bots on one grey band share ranks, directly or through others." if shared else ""


def _ranks(analysis: Analysis) -> str:
    return "" if analysis.correction == "none" else "; sets of ranks hold for all bots at once and are wider"


def _bars(analysis: Analysis) -> str:
    return f"a bar is its {_level(analysis)} interval ({Clusters(analysis.clusters).words})."


def _level(analysis: Analysis) -> str:
    return percent(analysis.confidence_level).replace(" ", "\u00a0")
