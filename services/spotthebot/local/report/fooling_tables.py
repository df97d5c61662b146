"""The tables of fooling rates: ranks by them, rates by partner, and ratings of chats next to them."""

from collections.abc import Iterator, Mapping
from typing import Final

from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
from spotthebot.contracts.analytics.partners import Conversations, OrderCorrelation
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.findings import adjustment_words, rank_words
from spotthebot.local.report.table import Column, Table, interval, p_value


def fooling_rank_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Yield the ranking by fooling rate, with people as a reference, and the difference of each pair."""
    yield Table(
        key="ranking",
        title="Ranking by fooling rate",
        caption="No two bots met, so there are no win rates. Fooling rate: the share of labels that are human, with its"
        f" {level} interval; best and worst rank, and cluster. People are a reference without a rank: how often people"
        f" pass as human. {rank_words(analysis.correction)}",
        columns=(
            Column("bot", "Bot"),
            Column("cluster", "Cluster"),
            Column("fooling_rate", "Fooling rate"),
            *interval(),
            Column("rank_low", "Best"),
            Column("rank_high", "Worst"),
        ),
        rows=tuple(
            (
                each.bot,
                each.cluster,
                each.deciding.estimate,
                each.deciding.low,
                each.deciding.high,
                each.rank_low,
                each.rank_high,
            )
            for each in analysis.ranking.bots
        ),
    )
    yield Table(
        key="fooling_pairs",
        title="Differences of fooling rates",
        caption=f"{analysis.ranking.rank_method[:1].upper()}{analysis.ranking.rank_method[1:]}. The {level} interval is"
        f" of one difference by itself. {adjustment_words(analysis.correction)}".rstrip(),
        columns=(
            Column("bot", "Bot"),
            Column("other", "Against"),
            Column("difference", "Difference"),
            *interval(),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
        ),
        rows=tuple(
            (pair.bot, pair.other, pair.estimate, pair.low, pair.high, pair.p_value, pair.p_adjusted, pair.significant)
            for pair in analysis.ranking.fooling_pairs
        ),
    )


def partner_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Yield fooling rates and survival with and without conversations of people with bots."""
    partners = analysis.partners
    yield Table(
        key="partners",
        title="With and without conversations of people with bots",
        caption=f"Fooling rates with {level} intervals, and ranks by them. {correlation_words(partners.correlation)}",
        columns=(
            Column("conversations", "Conversations"),
            Column("bot", "Bot"),
            Column("fooling_rate", "Fooling rate"),
            *interval(),
            Column("rank_low", "Best"),
            Column("rank_high", "Worst"),
            Column("n", "Labels"),
        ),
        rows=tuple(
            (
                _KINDS[found.conversations],
                each.bot,
                each.fooling_rate.estimate,
                each.fooling_rate.low,
                each.fooling_rate.high,
                each.rank_low,
                each.rank_high,
                each.n,
            )
            for found in partners.results
            for each in found.bots
        ),
    )
    yield Table(
        key="partner_differences",
        title="Fooling rate with people minus with bots",
        caption=f"{partners.method}. The {level} interval is of one difference by itself."
        f" {adjustment_words(analysis.correction)}".rstrip(),
        columns=(
            Column("bot", "Bot"),
            Column("difference", "Difference"),
            *interval(),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
        ),
        rows=tuple(
            (each.bot, each.estimate, each.low, each.high, each.p_value, each.p_adjusted, each.significant)
            for each in partners.differences
        ),
    )
    yield Table(
        key="partner_survival",
        title="Not yet spotted, with and without conversations of people with bots",
        caption=f"Shares by exchanges seen, with pointwise {level} intervals.",
        columns=(
            Column("conversations", "Conversations"),
            Column("bot", "Bot"),
            Column("exchanges", "Exchanges"),
            Column("survival", "Survival"),
            *interval(),
        ),
        rows=tuple(
            (_KINDS[found.conversations], curve.bot, time, share, low, high)
            for found in partners.results
            for curve in found.curves
            for time, share, low, high in zip(found.times, curve.survival, curve.low, curve.high, strict=True)
            if share is not None
        ),
    )


def interactor_tables(ratings: InteractorRatingsOut, level: str) -> Iterator[Table]:
    """Yield the ratings of those who chatted, next to fooling rates."""
    rates = {each.bot: each.rate for each in ratings.fooling_rates}
    words = [f"{each.measure}: {correlation_words(each.correlation)}" for each in ratings.questions]
    yield Table(
        key="interactor_ratings",
        title="Ratings by those who chatted",
        caption=f"Means of {ratings.rated} rated chats by {ratings.interactors} people, with {level} intervals and"
        f" ranks, next to fooling rates. {' '.join(words)}",
        columns=(
            Column("question", "Question"),
            Column("bot", "Bot"),
            Column("mean", "Mean"),
            *interval(),
            Column("rank_low", "Best"),
            Column("rank_high", "Worst"),
            Column("fooling_rate", "Fooling rate"),
        ),
        rows=tuple(
            (
                question.measure,
                each.bot,
                each.estimate,
                each.low,
                each.high,
                each.rank_low,
                each.rank_high,
                rates.get(each.bot),
            )
            for question in ratings.questions
            for each in question.bots
        ),
    )


def correlation_words(found: OrderCorrelation) -> str:
    """Return a sentence on the correlation of two orders of bots, or why there is none."""
    if found.estimate is None or found.p_value is None:
        return f"No rank correlation: {found.reason}."
    interval = found.reason if found.low is None or found.high is None else f"{found.low:z.2f} to {found.high:z.2f}"
    return (
        f"Rank correlation over {found.n} bots: {found.estimate:z.2f} ({interval}), p = {found.p_value:.3f}"
        f" ({found.method})."
    )


_KINDS: Final[Mapping[Conversations, str]] = {
    "all": "all",
    "without_people": "without people",
    "with_people": "of people with bots",
}
