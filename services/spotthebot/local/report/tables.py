"""The tables of a report, declared once: HTML, CSV and LaTeX are all written from these rows."""

from collections.abc import Iterator

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.ranking import RankedBot
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.wins import WinRates
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.local.report.annotation_tables import OTHER_RANKING, annotation_quality_tables, other_ranking
from spotthebot.local.report.findings import WITH_TIES, adjustment_words, rank_words
from spotthebot.local.report.fooling_tables import fooling_rank_tables, partner_tables
from spotthebot.local.report.survival_tables import survival_tables
from spotthebot.local.report.table import Column, Table, by_speaker, interval, p_value


def tables(analysis: Analysis) -> tuple[Table, ...]:
    """Return the tables that have rows, in reading order; speakers have the same order in all."""
    places = {each.name: at for at, each in enumerate(analysis.speakers)}
    return tuple(by_speaker(table, places) for table in _tables(analysis) if table.rows)


def has_features(analysis: Analysis) -> bool:
    """Return whether any annotation prefers a side in a feature. None does if a campaign asks for labels alone."""
    return any(pair.wins or pair.losses for found in _by_feature(analysis).values() for pair in found.pairs)


def _tables(analysis: Analysis) -> Iterator[Table]:
    level = percent(analysis.confidence_level)
    if analysis.ranking.ranked_by == "fooling_rates":
        yield from fooling_rank_tables(analysis, level)
    else:
        yield _ranking(analysis, level)
    yield _sensitivity(analysis)
    caption = f"By human-likeness, per {analysis.unit}, with {level} intervals. {WITH_TIES}"
    yield _pairs("win_rates", "Games of each pair", caption, analysis.win_rates, analysis.correction)
    if has_features(analysis):
        yield from _features(analysis, level)
    yield _segments(analysis, level)
    yield _fooling(analysis, level)
    yield from partner_tables(analysis, level)
    yield from survival_tables(analysis, level)
    yield from annotation_quality_tables(analysis, level)


def _ranking(analysis: Analysis, level: str) -> Table:
    return Table(
        key="ranking",
        title="Ranking",
        caption=f"Mean win rate over the opponents (Eq. 1) with its {level} interval, the share of ties, the win rate"
        " with ties, best and worst rank, cluster, TrueSkill and Bradley-Terry strength. Bots of one cluster share"
        f" ranks, directly or through others. {rank_words(analysis.correction)} {WITH_TIES}",
        columns=(
            Column("bot", "Bot"),
            Column("cluster", "Cluster"),
            Column("win_rate", "Win rate"),
            *interval(),
            Column("tie_rate", "Ties"),
            Column("win_rate_with_ties", "With ties"),
            Column("rank_low", "Best"),
            Column("rank_high", "Worst"),
            Column("trueskill_mu", "TrueSkill", 2),
            *interval("trueskill_", digits=2),
            Column("strength", "Strength", 2),
            Column("strength_standard_error", "SE", 2),
        ),
        rows=tuple(
            (
                each.bot,
                each.cluster,
                each.win_rate.estimate,
                each.win_rate.low,
                each.win_rate.high,
                each.tie_rate,
                each.win_rate_with_ties,
                each.rank_low,
                each.rank_high,
                *_of_games(each),
            )
            for each in analysis.ranking.bots
        ),
    )


def _of_games(bot: RankedBot) -> tuple[float | None, ...]:
    """Return a bot's TrueSkill with its bounds and its Bradley-Terry strength with its standard error."""
    skill, strength = bot.trueskill, bot.bradley_terry
    if skill is None or strength is None:
        return (None,) * 5
    return skill.mu, skill.low, skill.high, strength.estimate, strength.standard_error


def _sensitivity(analysis: Analysis) -> Table:
    return Table(
        key="sensitivity",
        title="The ranking under other choices",
        caption="One choice is changed at a time: which label “unsure” is (here it lies between bot and human; fooling"
        " rates take it for not human, survival for not spotted, and correctness leaves it out), which annotations"
        f" count (filter; here {analysis.filter}), and what one game is (unit; here one {analysis.unit}). Ranks are"
        " those of the bots in the order before them; tau compares the orders; “other ranks” has the bots whose range"
        " of ranks changes.",
        columns=(
            Column("choice", "Choice"),
            Column("value", "Instead"),
            *OTHER_RANKING,
            Column("kendall_tau", "Kendall's tau"),
            Column("moved", "Other ranks"),
        ),
        rows=tuple(
            (each.choice, each.value, *other_ranking(each), each.kendall_tau, ", ".join(each.moved) or "none")
            for each in analysis.sensitivity.alternatives
        ),
    )


def _pairs(key: str, title: str, caption: str, win_rates: WinRates, correction: str) -> Table:
    return Table(
        key=key,
        title=title,
        caption=f"{caption} {_tested(win_rates, correction)}".rstrip(),
        columns=(
            Column("bot", "Bot"),
            Column("other", "Against"),
            Column("wins", "Wins"),
            Column("losses", "Losses"),
            Column("ties", "Ties"),
            Column("win_rate", "Win rate"),
            Column("win_rate_with_ties", "With ties"),
            *interval(),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
        ),
        rows=tuple(
            (
                pair.bot,
                pair.other,
                pair.wins,
                pair.losses,
                pair.ties,
                pair.win_rate,
                pair.win_rate_with_ties,
                pair.low,
                pair.high,
                pair.p_value,
                pair.p_adjusted,
                pair.significant,
            )
            for pair in win_rates.pairs
        ),
    )


def _tested(win_rates: WinRates, correction: str) -> str:
    if not win_rates.pairs:
        return "No two bots met."
    pair = win_rates.pairs[0]
    return f"{pair.test[:1].upper()}{pair.test[1:]}; {pair.family} tests are one family. {adjustment_words(correction)}"


def _features(analysis: Analysis, level: str) -> Iterator[Table]:
    by_feature = _by_feature(analysis)
    rates = {name: {each.bot: each for each in found.bots} for name, found in by_feature.items()}
    yield Table(
        key="features",
        title="Win rates by feature",
        caption=f"Mean win rate over the opponents by what was preferred, with {level} intervals; SSA: sensible and"
        " specific both.",
        columns=(
            Column("feature", "Feature"),
            Column("bot", "Bot"),
            Column("win_rate", "Win rate"),
            *interval(),
        ),
        rows=tuple(
            (_feature_name(name), each.bot, found.win_rate, found.low, found.high)
            for name in rates
            for each in analysis.ranking.bots
            for found in (rates[name][each.bot],)
        ),
    )
    for name, found in by_feature.items():
        label = _feature_name(name)
        yield _pairs(
            f"features_{name}",
            f"{label} of each pair",
            f"By {_in_sentence(label)}, with {level} intervals. {WITH_TIES}",
            found,
            analysis.correction,
        )


def _by_feature(analysis: Analysis) -> dict[str, WinRates]:
    features = analysis.features
    return {
        "fluency": features.fluency,
        "sensibleness": features.sensibleness,
        "specificity": features.specificity,
        "ssa": features.ssa,
    }


def _in_sentence(label: str) -> str:
    return label if label == "SSA" else label.lower()


def _feature_name(name: str) -> str:
    return "SSA" if name == "ssa" else name.capitalize()


def _segments(analysis: Analysis, level: str) -> Table:
    return Table(
        key="segments",
        title="By the number of exchanges seen",
        caption=f"Share of ties, mean win rate per annotation and shares of labels, with {level} intervals.",
        columns=(
            Column("exchanges", "Exchanges"),
            Column("ties", "Ties"),
            Column("bot", "Bot"),
            Column("win_rate", "Win rate"),
            *interval("win_rate_"),
            Column("human_share", "Taken for human"),
            *interval("human_share_"),
            Column("unsure_share", "Unsure"),
            *interval("unsure_share_"),
            Column("n", "Labels"),
        ),
        rows=tuple(
            (
                segment.exchanges,
                segment.ties,
                bot.bot,
                bot.win_rate,
                bot.win_rate_interval.low,
                bot.win_rate_interval.high,
                bot.human_share,
                bot.human_share_interval.low,
                bot.human_share_interval.high,
                bot.unsure_share,
                bot.unsure_share_interval.low,
                bot.unsure_share_interval.high,
                bot.n,
            )
            for segment in analysis.segments
            for bot in segment.bots
        ),
    )


def _fooling(analysis: Analysis, level: str) -> Table:
    people = " HU: people." if any(each.bot == HUMAN_NAME for each in analysis.fooling_rates) else ""
    return Table(
        key="fooling_rates",
        title="Who is taken for a human",
        caption=f"Labels, and the share of “human” among them with its {level} interval.{people}",
        columns=(
            Column("bot", "Speaker"),
            Column("human", "Human"),
            Column("unsure", "Unsure"),
            Column("bot_labels", "Bot"),
            Column("n", "Labels"),
            Column("rate", "Fooling rate"),
            *interval(),
        ),
        rows=tuple(
            (each.bot, each.human, each.unsure, each.bot_labels, each.n, each.rate, each.low, each.high)
            for each in analysis.fooling_rates
        ),
    )
