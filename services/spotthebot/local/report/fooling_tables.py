"""The tables of a ranking by fooling rate, for campaigns in which no two bots met."""

from collections.abc import Iterator

from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.findings import adjustment_words
from spotthebot.local.report.table import Column, Table, interval, p_value


def fooling_rank_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Yield the ranking by fooling rate, with people as a reference, and the difference of each pair."""
    yield Table(
        key="ranking",
        title="Ranking by fooling rate",
        caption="No two bots met, so there are no win rates. Fooling rate: the share of labels that are human, with its"
        f" {level} interval; best and worst rank, and cluster. People are a reference without a rank: how often people"
        " pass as human. All ranks hold at once; an interval holds for one bot by itself.",
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
