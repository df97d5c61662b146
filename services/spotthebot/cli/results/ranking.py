"""Asks `analytics` for a campaign's results and lays them out as tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rich.console import Console

from spotthebot.cli.results.figures import OF_ONE_BOT, interval_of, number, ranks_of
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.local.progress import say_programs, say_repeated_texts, say_unranked
from spotthebot.local.report.table import shown
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    # Building these models takes a tenth of a second: `rank` imports them when the services are ready.
    from spotthebot.contracts.analytics.analyses import Stability
    from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
    from spotthebot.contracts.analytics.ranking import Ranking
    from spotthebot.contracts.analytics.results import Analysis
    from spotthebot.contracts.analytics.survival import Survival
    from spotthebot.contracts.analytics.wins import FoolingRate, WinRates


async def rank(clients: Clients, campaign_id: UUID, parameters: Mapping[str, Any]) -> "Analysis":
    """Return all results of a campaign in one document."""
    return await clients.analytics.analysis(campaign_id, **parameters)


async def find_interactor_ratings(
    clients: Clients, result: "Analysis", campaign_id: UUID, parameters: Mapping[str, Any]
) -> "InteractorRatingsOut | None":
    """Return the ratings by people who chatted in the campaign's conversations; None if nobody rated a chat."""
    from spotthebot.clients import Conflict  # noqa: PLC0415 - it imports httpx

    if all(each.name != HUMAN_NAME for each in result.speakers):
        return None
    try:
        return await clients.analytics.interactor_ratings(campaign_id, **parameters)
    except Conflict:
        return None


def print_ranking(console: Console, result: "Analysis") -> None:
    """Print what the results tell, the ranking with clusters, each pair's games, survival and the fooling rates."""
    from spotthebot.local.report.findings import WITH_TIES, adjustment_words, findings  # noqa: PLC0415 - it imports httpx

    counts = result.counts
    console.print(
        f"[bold]{result.campaign}[/bold]: {counts.annotations} annotations of {counts.segments} segments of "
        f"{counts.annotated_conversations} conversations by {counts.annotator_words}"
        f" (filter {result.filter}){' - preliminary' if result.preliminary else ''}"
    )
    say_programs(counts)
    say_repeated_texts(result.repeated_texts)
    console.print(" ".join(findings(result)), markup=False, highlight=False)
    level = f"{result.confidence_level:.0%}"
    ranked, adjusted = result.ranking, adjustment_words(result.correction)
    console.print(_ranking_table(ranked, level))
    if ranked.reason is None:
        say_unranked([(bot.bot, bot.rank_low, bot.reason) for bot in ranked.bots])
    if ranked.ranked_by == "fooling_rates":
        console.print(_differences_table(ranked, result.correction, level, adjusted))
    else:
        console.print(_pairs_table(result.win_rates, result.correction, f"{adjusted} {WITH_TIES}".lstrip()))
    console.print(_survival_table(result.survival, level))
    console.print(_fooling_table(result.fooling_rates))
    print_partners(console, result)
    console.print(_annotation_quality_table(result, level))


def print_partners(console: Console, result: "Analysis") -> None:
    """Print fooling rates with and without conversations of people with bots; nothing if there is one kind alone."""
    from spotthebot.local.report.fooling_tables import correlation_words  # noqa: PLC0415 - as above

    partners = result.partners
    if partners.reason is not None:
        return
    _, without, including = partners.results
    rates = [{each.bot: each.fooling_rate.estimate for each in found.bots} for found in (without, including)]
    table = Table("Bot", "With bots", "With people", "Difference", f"{result.confidence_level:.0%} interval", "p")
    table.title = "Taken for human, by partner"
    for each in partners.differences:
        with_bots, with_people = (number(found.get(each.bot)) for found in rates)
        p_value = f"{_p_value(each.p_adjusted)}{' *' if each.significant else ''}"
        interval = interval_of(each.low, each.high)
        table.add_row(each.bot, with_bots, with_people, number(each.estimate), interval, p_value)
    table.caption = correlation_words(partners.correlation)
    console.print(table)


def print_interactor_ratings(console: Console, result: "InteractorRatingsOut") -> None:
    """Print what people said of their chats, next to fooling rates."""
    from spotthebot.local.report.fooling_tables import correlation_words  # noqa: PLC0415 - as above

    rates = {each.bot: each.rate for each in result.fooling_rates}
    for question in result.questions:
        title = f"Ratings of {result.rated} chats by those who chatted: {question.measure}"
        table = Table("Bot", "Mean", f"{result.confidence_level:.0%} interval", "Ranks", "Taken for human", title=title)
        for bot in question.bots:
            interval = interval_of(bot.low, bot.high)
            ranks = ranks_of(bot.rank_low, bot.rank_high)
            table.add_row(bot.bot, number(bot.estimate), interval, ranks, number(rates.get(bot.bot)))
        table.caption = correlation_words(question.correlation)
        console.print(table)


def print_stability(console: Console, stability: "Stability") -> None:
    """Print from how many conversations of each pair on the ranking is the same again."""
    table = Table("Bots", "95 % first at", "95 % from", title=f"Stability, {stability.rule} rule: conversations a pair")
    for curve in stability.curves:
        name = "all" if curve.without is None else f"without {curve.without}"
        table.add_row(name, str(curve.first_stable or "-"), str(curve.stable_from or "-"))
    console.print(table)


def _ranking_table(ranking: "Ranking", level: str) -> Table:
    by_games, bounds = ranking.ranked_by != "fooling_rates", f"{level} interval"
    of_games = ("Win rate", bounds, "Ties", "Ranks", f"TrueSkill ({level})")
    by_labels = ("Taken for human", bounds, "Ranks")
    table = Table("Cluster", "Bot", *(of_games if by_games else by_labels), title="Ranking", keys=2)
    for bot in ranking.bots:
        rate = bot.deciding
        ranks = ranks_of(bot.rank_low, bot.rank_high)
        interval = interval_of(rate.low, rate.high)
        cells = [number(rate.estimate), interval, ranks]
        if by_games and bot.trueskill is not None:
            skill = _with_interval(bot.trueskill.mu, bot.trueskill.low, bot.trueskill.high, digits=1)
            cells = [number(rate.estimate), interval, number(bot.tie_rate), ranks, skill]
        table.add_row(str(bot.cluster or "-"), bot.bot, *cells)
    table.caption = OF_ONE_BOT
    return table


def _differences_table(ranking: "Ranking", correction: str, level: str, adjusted: str) -> Table:
    table = Table(
        "Bot",
        "Against",
        "Difference",
        f"{level} interval",
        _p_heading(correction),
        title="Differences of fooling rates",
        keys=2,
    )
    for pair in ranking.fooling_pairs:
        p_value = f"{_p_value(pair.p_adjusted)}{' *' if pair.significant else ''}"
        interval = interval_of(pair.low, pair.high)
        table.add_row(pair.bot, pair.other, number(pair.estimate), interval, p_value)
    table.caption = f"{ranking.rank_method}. Each interval is for its pair alone. {adjusted}".rstrip()
    return table


def _pairs_table(win_rates: "WinRates", correction: str, adjusted: str) -> Table:
    columns = ("Bot", "Against", "Wins", "Losses", "Ties", "Win rate", "With ties", _p_heading(correction))
    table = Table(*columns, title="Games of each pair", keys=2)
    for pair in win_rates.pairs:
        p_value = f"{_p_value(pair.p_adjusted)}{' *' if pair.significant else ''}"
        games = map(str, (pair.wins, pair.losses, pair.ties))
        table.add_row(pair.bot, pair.other, *games, number(pair.win_rate), number(pair.win_rate_with_ties), p_value)
    if win_rates.pairs:
        table.caption = f"{win_rates.pairs[0].test}. {adjusted}".rstrip()
    return table


def _p_heading(correction: str) -> str:
    return "p" if correction == "none" else f"p ({correction.capitalize()})"


def _p_value(value: float | None) -> str:
    return "-" if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def _survival_table(survival: "Survival", level: str) -> Table:
    times = [f"after {time} ({level})" for time in survival.times]
    table = Table("Speaker", *times, title="Share not yet spotted as a bot, by exchanges seen")
    for curve in survival.curves:
        points = zip(curve.survival, curve.low, curve.high, strict=True)
        table.add_row(curve.bot, *(_with_interval(*each) for each in points))
    reasons = dict.fromkeys(
        each.reason for curve in survival.curves for each in curve.uncertainty if each is not None and each.reason
    )
    table.caption = "; ".join(f"no interval: {each}" for each in reasons) or None
    return table


def _with_interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    if value is None:
        return "-"
    estimate, *bounds = (number(each, digits) for each in (value, low, high))
    return estimate if low is None or high is None else f"{estimate} ({'-'.join(bounds)})"


def _fooling_table(rates: Sequence["FoolingRate"]) -> Table:
    table = Table("Speaker", "Human", "Unsure", "Bot", "Taken for human", title="Labels")
    for rate in sorted(rates, key=lambda each: -(each.rate or 0)):
        counts = map(str, (rate.human, rate.unsure, rate.bot_labels))
        table.add_row(rate.bot, *counts, number(rate.rate))
    return table


def _annotation_quality_table(result: "Analysis", level: str) -> Table:
    table = Table("Measure", "Value", f"{level} interval", title="Quality of the annotations")
    agreement, annotators, time = result.agreement, result.annotators, result.time
    for name, found in (
        ("Krippendorff's alpha, ordinal", agreement.alpha_interval),
        ("Fleiss' kappa", agreement.fleiss_kappa),
    ):
        table.add_row(name, number(found.estimate), interval_of(found.low, found.high))
        if found.reason is not None:
            table.caption = f"{table.caption or ''} {name}: {found.reason}.".strip()
    correct = interval_of(annotators.correctness_low, annotators.correctness_high)
    table.add_row("Annotators' correctness", number(annotators.correctness), correct)
    table.add_row("... on humans", number(annotators.human_correctness), "-")
    for each in annotators.without_weak:
        name = f"Kendall's tau without annotators below {each.threshold:.0%}"
        table.add_row(name, number(each.kendall_tau) if each.annotators else "nobody left", "-")
    name = f"Median seconds of {'programs' if result.counts.are_all_programs else 'people'} per annotation"
    table.add_row(name, shown(time.median_seconds, 1), interval_of(time.low, time.high, 1))
    return table
