"""`stb campaigns judges`: what each judge of a campaign is worth."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from spotthebot.cli.commands.analysis_options import takes_parameters
from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.figures import ranks_of
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.judges import (
        CorrectedBot,
        CorrectedRank,
        CorrectedRanking,
        Correction,
        JudgeAltTest,
        JudgeCeiling,
        JudgeInterval,
        JudgeOnMeasure,
        JudgeQuality,
        JudgesOut,
    )

_Keys: TypeAlias = tuple[str, ...]
_BOTS = ("Judge", "Bot", "People", "Judge alone (biased)", "Corrected", "Labels saved", "Missing")
_NONE = "No judge has labelled this campaign: ./stb judge run JUDGE lets one do it."
_RANKS = ("Judge", "Ranks", "Bot", "Win rate by people", "Judge alone (biased)", "Corrected", "Labels saved")
_SAVED = "Labels saved are a share of people's labels; a bound below 0 says that the judge may cost a little."


@reads_services
@takes_parameters
def of_campaign(services: Services, campaign: Campaign, parameters: dict[str, Any], json_file: JsonFile = None) -> None:
    """Show what each judge of a campaign is worth: agreement, calibration, and the labels of people that it saves."""
    check_output(json_file)

    async def read(clients: Clients) -> "JudgesOut":
        found = await find(Campaigns(clients), campaign)
        return await clients.analytics.list_judge_qualities(found.id, **parameters)

    found = ask(services, read)
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    if found.ceiling is not None:
        typer.echo(_ceiling_line(found.ceiling))
    for each in found.refused:
        typer.echo(f"No report about {each.name}: {each.reason}.")
    for judge in found.judges:
        _say(judge)
    if found.judges or found.measures:
        typer.echo(_SAVED)
    if found.ceiling is not None:
        rates = [((_name(judge),), judge.bots) for judge in found.judges]
        _print_means("Fooling rates, and what each judge saves", _BOTS, rates, empty=_NONE)
    if found.judges:
        ranked = [((_name(judge),), _ranked(judge.ranking)) for judge in found.judges]
        nothing = "No game of two bots was decided, so there are no win rates."
        _print_ranks("Win rates, and ranks by the corrected ones", _RANKS, ranked, empty=nothing)
    _say_measures(found)


def _say_measures(found: "JudgesOut") -> None:
    """Print the measures. Of a protocol that asks for labels, these are said already, and preferences are left."""
    judged = [each for each in found.measures if each.judges and (each.kind == "preference" or found.ceiling is None)]
    for each in judged:
        typer.echo(f"Ceiling of {each.measure}: {_interval(_from_0(each.ceiling))}")
    both = [((each.measure, _name(judge)), judge) for each in judged for judge in each.judges]
    if found.ceiling is None:
        means = [(keys, judge.bots) for keys, judge in both]
        empty = "No measure of ratings or shares." if judged else _NONE
        _print_means("Means, and what each judge saves", ("Measure", *_BOTS), means, empty=empty)
    ranks = [(keys, _ranked(judge.ranking)) for keys, judge in both if judge.ranking is not None]
    if any(bots for _, bots in ranks):
        _print_ranks("Preferences: win rates, and ranks by the corrected ones", ("Measure", *_RANKS), ranks, empty="")


def _print_means(
    title: str, columns: Sequence[str], judged: "Sequence[tuple[_Keys, Sequence[CorrectedBot]]]", *, empty: str
) -> None:
    rows = ((*keys, bot.bot, *_cells(bot), _number(bot.missing)) for keys, bots in judged for bot in bots)
    print_list(columns, rows, empty=empty, title="\n".join((title, *_reasons(judged))))


def _print_ranks(
    title: str, columns: Sequence[str], judged: "Sequence[tuple[_Keys, Sequence[CorrectedRank]]]", *, empty: str
) -> None:
    rows = (
        (*keys, ranks_of(bot.rank_low, bot.rank_high), bot.bot, *_cells(bot)) for keys, bots in judged for bot in bots
    )
    print_list(columns, rows, empty=empty, title="\n".join((title, *_reasons(judged))))


def _ranked(ranking: "CorrectedRanking") -> "list[CorrectedRank]":
    return [bot for bot in ranking.bots if bot.people.estimate is not None]


def _reasons(judged: "Sequence[tuple[_Keys, Sequence[CorrectedBot | CorrectedRank]]]") -> Iterator[str]:
    """Yield a line for each reason why a judge changes nothing about bots."""
    for keys, bots in judged:
        yield from (f"{', '.join(keys)}, {line}" for line in _remarks(bots))


def _cells(found: "Correction") -> tuple[str, ...]:
    saved = _cell(found.labels_saved) if found.reason is None else "-"
    return _cell(found.people), _number(found.judge), _cell(found.corrected), saved


def summary_lines(found: "JudgesOut") -> list[str]:
    """Return lines without a table: the agreement of each judge, the labels of people that it saves, the ceiling."""
    lines: list[str] = []
    for judge in found.judges:
        saved = [f"{bot.bot} {_interval(bot.labels_saved)}" for bot in judge.bots if bot.reason is None]
        lines += [
            f"{_name(judge)} ({judge.kind} judge): {judge.segments:,} segments",
            *_agreement_lines(judge),
            f"  Share of people's labels saved: {', '.join(saved) or 'none'}",
            *(f"  {line}" for line in _remarks(judge.bots)),
        ]
    return lines if found.ceiling is None else [*lines, _ceiling_line(found.ceiling)]


def _say(judge: "JudgeQuality") -> None:
    scores = judge.calibration
    typer.echo(f"{_name(judge)}: {judge.segments:,} segments, {_number(judge.missing)} of the answers missing")
    for line in _agreement_lines(judge):
        typer.echo(line)
    typer.echo(f"  Brier score (squared error, 0 is best) {_interval(scores.brier)}, {_gain_words(scores.gain)}")
    typer.echo(f"  Bias (mean P(human) minus people's share) {_interval(scores.bias)}")
    typer.echo(f"  Share of the ceiling reached: {_number(judge.reached)}")
    typer.echo(f"  Alternative annotator test: {_alt_test_words(judge.alt_test)}")
    if judge.stability is not None:
        flips = _number(judge.stability.flips.estimate)
        typer.echo(f"  Between two repeats: shift {_interval(judge.stability.shift)}, flips {flips}")
    if judge.ranking.reason is not None:
        typer.echo(f"  No ranks: {judge.ranking.reason}")
    if judge.drift is not None:
        typer.echo(f"  Since version {judge.drift_from}: shift {_interval(judge.drift.shift)}")


def _ceiling_line(ceiling: "JudgeCeiling") -> str:
    return f"Ceiling, the largest share of people's labels that any judge can save here: {_interval(_from_0(ceiling))}"


def _agreement_lines(judge: "JudgeQuality") -> Iterator[str]:
    with_people, people = judge.agreement.judge, judge.agreement.people
    for name, one, other in (
        ("Share of equal labels", with_people.share, people.share),
        ("Agreement beyond chance (Scott's pi)", with_people.beyond_chance, people.beyond_chance),
    ):
        yield f"  {name}: {_interval(one)} with people, who have {_interval(other)} with each other"


def _gain_words(gain: "JudgeInterval") -> str:
    """Return how much better or worse a Brier score is than a constant's; less is better."""
    if gain.estimate is None or gain.estimate >= 0:
        return f"better than a constant's by {_interval(gain)}"
    bounds = {"low": gain.high, "high": gain.low}
    negated = {name: None if value is None else -value for name, value in bounds.items()}
    return f"worse than a constant's by {_interval(gain.model_copy(update={'estimate': -gain.estimate, **negated}))}"


def _alt_test_words(test: "JudgeAltTest") -> str:
    if test.passes is None:
        return f"could not be made ({test.reason})"
    return f"{'passes' if test.passes else 'does not pass'}, may replace {_number(test.winning_rate)} of the annotators"


def _remarks(bots: "Sequence[CorrectedBot | CorrectedRank]") -> list[str]:
    """Return a line for each reason why a judge changes nothing about bots."""
    found: dict[str, list[str]] = {}
    for bot in bots:
        if bot.why_unchanged is not None:
            found.setdefault(bot.why_unchanged, []).append(bot.bot)
    return [f"{', '.join(names)}: {reason}" for reason, names in found.items()]


def _name(judge: "JudgeQuality | JudgeOnMeasure") -> str:
    return judge.name if judge.version is None else f"{judge.name} version {judge.version}"


def _interval(found: "JudgeInterval") -> str:
    if found.estimate is None:
        return f"unknown ({found.reason})" if found.reason else "unknown"
    if found.low is None or found.high is None:
        return _number(found.estimate)
    return f"{found.estimate:z.3f} ({found.low:z.3f} to {found.high:z.3f})"


def _from_0(found: "JudgeInterval") -> "JudgeInterval":
    """Return a correlation as a share of labels, which is 0 where the correlation is below 0."""
    limited = {
        name: max(0.0, value) for name in ("estimate", "low", "high") if (value := getattr(found, name)) is not None
    }
    return found.model_copy(update=limited)


def _cell(found: "JudgeInterval") -> str:
    return "unknown" if found.estimate is None else _interval(found)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:z.3f}"
