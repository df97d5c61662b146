"""Prints the measures of a campaign or a study: of one measure the bots and their pairs, of all the means."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from spotthebot.cli.results.figures import OF_ONE_BOT, interval_of, number, ranks_of
from spotthebot.cli.results.tables import Table
from spotthebot.local.progress import SAYS_NOTHING, say, say_programs, say_repeated_texts

if TYPE_CHECKING:
    # Building these models takes a tenth of a second: `rank` imports them when the services are ready.
    from spotthebot.contracts.analytics.measures import MeasureOut, MeasureResult, PublishedInterval
    from spotthebot.contracts.analytics.mixed_models import MixedModel
    from spotthebot.contracts.analytics.studies import StudyProvenance

_NOT_ASKED: Final = {"scores": "scores by FED", "latency": "seconds that bots took for replies"}


def print_sources(console: Console, result: "StudyProvenance") -> None:
    """Print from which tasks and chats the results of a study come, and warn of programs."""
    for source in result.sources:
        if source.kind in _NOT_ASKED:
            line = f"{source.task}: {_NOT_ASKED[source.kind]}, no annotators"
        else:
            asked = "rated chats" if source.kind == "chats" else f"annotations by the protocol {source.protocol}"
            line = f"{source.task}: {source.annotations} {asked}, {source.annotator_words}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if any(each.programs for each in result.sources):
        say(f"Simulated annotators and judges are programs: {SAYS_NOTHING}")
    if result.preliminary:
        console.print("Preliminary: annotations are still missing.", highlight=False)


def print_measure(console: Console, result: "MeasureOut") -> None:
    """Print what the ranks by one measure tell, its bots, their published form, every pair, and agreement."""
    from spotthebot.local.report.findings import measure_finding  # noqa: PLC0415 - as above

    counts = result.counts
    console.print(
        f"[bold]{result.campaign}[/bold]: {counts.annotations} annotations of {counts.annotated_conversations}"
        f" conversations by {counts.annotator_words} (filter {result.filter})"
        f"{' - preliminary' if result.preliminary else ''}"
    )
    say_programs(counts)
    say_repeated_texts(result.repeated_texts)
    console.print(measure_finding(result, result), markup=False, highlight=False)
    console.print(_bots_table(result))
    if result.bots:
        console.print(_published_table(result))
    if result.pairs:
        console.print(_pairs_table(result))
    if result.mixed_model is not None:
        for table in _mixed_model_tables(result, result.mixed_model):
            console.print(table)
    alpha = result.alpha
    bounds = "" if alpha.low is None else f", {interval_of(alpha.low, alpha.high)}"
    agreed = alpha.reason if alpha.estimate is None else f"{alpha.estimate:z.2f}{bounds}"
    console.print(f"Krippendorff's alpha: {agreed}", markup=False, highlight=False)


def print_measures(console: Console, bots: Sequence[str], measures: "Mapping[str, MeasureResult]") -> None:
    """Print the mean of every bot by every measure; `measures` has them by the names that `--measure` takes."""
    table = Table("Measure", *map(escape, bots), "Alpha", title="All measures: --measure NAME shows one")
    for name, measure in measures.items():
        estimates = {each.bot: each.estimate for each in measure.bots}
        table.add_row(Text(name), *(number(estimates.get(bot)) for bot in bots), number(measure.alpha.estimate))
    console.print(table)


def _bots_table(result: "MeasureOut") -> Table:
    from spotthebot.local.report.measure_tables import ESTIMATES  # noqa: PLC0415 - as above

    interval = f"{result.confidence_level:.0%} interval"
    title = Text(f"By {result.measure}: {result.question}")
    table = Table("Cluster", "Bot", ESTIMATES[result.kind], interval, "Ranks", "Values", title=title, keys=2)
    for bot in result.bots:
        ranks = ranks_of(bot.rank_low, bot.rank_high)
        cluster = str(bot.cluster or "-")
        table.add_row(cluster, Text(bot.bot), number(bot.estimate), interval_of(bot.low, bot.high), ranks, str(bot.n))
    lower = "; lower is better" if result.better == "lower" else ""
    table.caption = f"{result.method}{lower}. {OF_ONE_BOT}"
    return table


def _published_table(result: "MeasureOut") -> Table:
    """Return each bot's result in the form that ABC-Eval prints; of a preference also the ties and losses."""
    is_preference = result.kind == "preference"
    interval = f"{result.confidence_level:.0%} interval"
    estimates = ("Won", "Tied", "Lost") if is_preference else ("Estimate",)
    means = () if is_preference else ("Mean of dialogues' means",)
    columns = (*(each for name in estimates for each in (name, interval)), *means, "Values")
    table = Table("Bot", *columns, title="Published form", caption=result.bots[0].published.method)
    for bot in result.bots:
        form = bot.published
        cells = [*_with_interval(form), *_with_interval(form.tie), *_with_interval(form.loss)]
        if not is_preference:
            cells.append(number(form.mean_of_means))
        table.add_row(Text(bot.bot), *cells, str(form.n))
    return table


def _with_interval(found: "PublishedInterval | None") -> tuple[str, ...]:
    return () if found is None else (number(found.estimate), interval_of(found.low, found.high))


def _pairs_table(result: "MeasureOut") -> Table:
    difference = "Win rate" if result.kind == "preference" else "Difference"
    interval = f"{result.confidence_level:.0%} interval"
    table = Table(
        "Bot", "Against", difference, interval, _p_heading(result), title="Pairs", caption=result.pairs_method, keys=2
    )
    for pair in result.pairs:
        marked = f"{_p_value(pair.p_adjusted)}{' *' if pair.significant else ''}"
        table.add_row(Text(pair.bot), Text(pair.other), number(pair.estimate), interval_of(pair.low, pair.high), marked)
    return table


def _mixed_model_tables(result: "MeasureOut", model: "MixedModel") -> tuple[Table, ...]:
    """Return the effects of bots and their differences; without a fit, one table whose caption says why."""
    interval = f"{result.confidence_level:.0%} interval"
    parts = (f"{each.grouping} {each.standard_deviation:.2f}" for each in model.components)
    fitted = f"{model.method}. Standard deviations: {', '.join(parts)}"
    effects = Table("Bot", "Effect", "Error", interval, "Values", title="Mixed model")
    effects.caption = fitted if model.reason is None else f"No fit: {model.reason}"
    for bot in model.bots:
        numbers = number(bot.estimate), number(bot.standard_error), interval_of(bot.low, bot.high)
        effects.add_row(Text(bot.bot), *numbers, str(bot.n))
    if model.reason is not None:
        return (effects,)
    pairs = Table(
        "Bot", "Against", "Difference", interval, _p_heading(result), title="Pairs by the mixed model", keys=2
    )
    for pair in model.pairs:
        cells = number(pair.estimate), interval_of(pair.low, pair.high), _p_value(pair.p_adjusted)
        pairs.add_row(Text(pair.bot), Text(pair.other), *cells)
    return effects, pairs


def _p_heading(result: "MeasureOut") -> str:
    return "p" if result.correction == "none" else f"p ({result.correction.capitalize()})"


def _p_value(p_adjusted: float | None) -> str:
    return "-" if p_adjusted is None else "< .001" if p_adjusted < 0.001 else f"{p_adjusted:.3f}"
