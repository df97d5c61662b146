"""`stb campaigns judges`: what each judge of a campaign is worth."""

from typing import TYPE_CHECKING, Any

from spotthebot.cli.commands.analysis_options import takes_parameters
from spotthebot.cli.commands.campaign_control import Campaign
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.ranking import ranks_words
from spotthebot.local.progress import say
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.judges import JudgeInterval, JudgeQuality, JudgesOut

_BOTS = ("Judge", "Bot", "People", "Judge alone (biased)", "Corrected", "Labels saved", "Missing")
_RANKS = ("Judge", "Ranks", "Bot", "Win rate by people", "Judge alone (biased)", "Corrected", "Labels saved")


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
    say(_ceiling_line(found))
    for each in found.refused:
        say(f"No report about {each.name}: {each.reason}.")
    for judge in found.judges:
        _say(judge)
    rows = (
        (
            _name(judge),
            bot.bot,
            _cell(bot.people),
            _number(bot.judge),
            _cell(bot.corrected),
            _cell(bot.labels_saved),
            _number(bot.missing),
        )
        for judge in found.judges
        for bot in judge.bots
    )
    print_list(_BOTS, rows, empty="No judge has labelled this campaign: ./stb judge run JUDGE lets one do it.")
    ranked = (
        (
            _name(judge),
            ranks_words(bot.rank_low, bot.rank_high),
            bot.bot,
            _cell(bot.people),
            _number(bot.judge),
            _cell(bot.corrected),
            _cell(bot.labels_saved),
        )
        for judge in found.judges
        for bot in judge.ranking.bots
        if bot.people.estimate is not None
    )
    if found.judges:
        print_list(_RANKS, ranked, empty="No game of two bots was decided, so there are no win rates.")


def summary_lines(found: "JudgesOut") -> list[str]:
    """Return lines without a table: the agreement of each judge, the labels of people that it saves, the ceiling."""
    lines: list[str] = []
    for judge in found.judges:
        saved = [f"{bot.bot} {_interval(bot.labels_saved)}" for bot in judge.bots if bot.reason is None]
        lines += [
            f"{_name(judge)} ({judge.kind} judge): {judge.segments:,} segments",
            _agreement_line(judge),
            f"  Share of people's labels saved: {', '.join(saved) or 'none'}",
            *_remarks(judge),
        ]
    return [*lines, _ceiling_line(found)]


def _say(judge: "JudgeQuality") -> None:
    scores = judge.calibration
    say(f"{_name(judge)}: {judge.segments:,} segments, {_number(judge.missing)} of the answers missing")
    say(_agreement_line(judge))
    say(f"  Brier score {_interval(scores.brier)}, lower than a constant's by {_interval(scores.gain)}")
    say(f"  Bias {_interval(scores.bias)}; share of the ceiling reached: {_number(judge.reached)}")
    passes = {True: "passes", False: "does not pass", None: "could not be made"}[judge.alt_test.passes]
    say(f"  Alternative annotator test: {passes}, winning rate {_number(judge.alt_test.winning_rate)}")
    if judge.stability is not None:
        flips = _number(judge.stability.flips.estimate)
        say(f"  Between two repeats: shift {_interval(judge.stability.shift)}, flips {flips}")
    for remark in _remarks(judge):
        say(remark)
    if judge.ranking.reason is not None:
        say(f"  No ranks: {judge.ranking.reason}")
    if judge.drift is not None:
        say(f"  Since version {judge.drift_from}: shift {_interval(judge.drift.shift)}")


def _ceiling_line(found: "JudgesOut") -> str:
    return f"No judge can save more than this share of people's labels here: {_interval(_from_0(found.ceiling))}"


def _agreement_line(judge: "JudgeQuality") -> str:
    agreement = judge.agreement
    return (
        f"  Agreement beyond chance: {_interval(agreement.judge.beyond_chance)} with people, who have"
        f" {_interval(agreement.people.beyond_chance)} with each other"
    )


def _remarks(judge: "JudgeQuality") -> list[str]:
    """Return a line for each reason why the judge changes nothing about bots."""
    bots: dict[str, list[str]] = {}
    for bot in judge.bots:
        if bot.reason is not None:
            bots.setdefault(bot.reason, []).append(bot.bot)
    return [f"  {', '.join(names)}: {reason}" for reason, names in bots.items()]


def _name(judge: "JudgeQuality") -> str:
    return judge.name if judge.version is None else f"{judge.name} version {judge.version}"


def _interval(found: "JudgeInterval") -> str:
    if found.estimate is None:
        return f"unknown ({found.reason})" if found.reason else "unknown"
    if found.low is None or found.high is None:
        return _number(found.estimate)
    return f"{found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})"


def _from_0(found: "JudgeInterval") -> "JudgeInterval":
    """Return a correlation as a share of labels, which is 0 where the correlation is below 0."""
    limited = {
        name: max(0.0, value) for name in ("estimate", "low", "high") if (value := getattr(found, name)) is not None
    }
    return found.model_copy(update=limited)


def _cell(found: "JudgeInterval") -> str:
    return "unknown" if found.estimate is None else _interval(found)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
