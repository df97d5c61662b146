"""A team's standings and the changes of a bot's versions, in the form in which its pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.standings import ShownAs, StandingBot, StandingMeasuredBot, StandingOut
from spotthebot.contracts.bots.registry import BotVersionOut
from spotthebot.web.layout.domain import NOTHING
from spotthebot.web.marks.domain import marks_of


@dataclass(frozen=True)
class LatestRank:
    """The range of ranks of a bot in a campaign, and the number of ranked bots. None if the campaign ranked no bots."""

    campaign: str
    rank_low: int | None
    rank_high: int | None
    of: int
    speaker: Speaker | None = None
    """The bot's mark in this campaign."""


def latest_ranks(standings: Sequence[StandingOut]) -> dict[str, LatestRank]:
    """Return the ranks of the team's bots, by name. Each bot has its ranks from the campaign released last."""
    ranks: dict[str, LatestRank] = {}
    for standing in sorted(standings, key=lambda each: each.released_at):
        marks = marks_of(standing.speakers)
        for bot in standing.placed_bots:
            if bot.shown_as is ShownAs.OWN:
                ranks[bot.bot] = LatestRank(
                    standing.campaign, bot.rank_low, bot.rank_high, bots_in(standing), marks.get(bot.bot)
                )
    return ranks


def placed_in(
    standings: Sequence[StandingOut], name: str
) -> list[tuple[StandingOut, int, StandingBot | StandingMeasuredBot]]:
    """Return the standings of one of the team's bots, latest first: standing, number of bots, and the bot's place."""
    return [
        (standing, bots_in(standing), bot)
        for standing in sorted(standings, key=lambda each: each.released_at, reverse=True)
        for bot in standing.placed_bots
        if bot.shown_as is ShownAs.OWN and bot.bot == name
    ]


def bots_in(standing: StandingOut) -> int:
    """Return the number of bots in a standing, without people."""
    return sum(bot.shown_as is not ShownAs.PEOPLE for bot in standing.placed_bots)


def changes(before: BotVersionOut, after: BotVersionOut) -> list[tuple[str, object, object]]:
    """Return what a version changed: the names of fields, each with its value before and after.

    A secret is no part of a version: it can be replaced.
    """
    old, new = _facts(before), _facts(after)
    return [
        (name, old.get(name, NOTHING), new.get(name, NOTHING))
        for name in old | new
        if old.get(name, NOTHING) != new.get(name, NOTHING)
    ]


def _facts(version: BotVersionOut) -> dict[str, object]:
    """Return the fields of a version that have a value."""
    facts = version.protocol.model_dump(mode="json") | {
        "training": version.training_sha256 and version.training_sha256[:12],
        "files": version.files_sha256 and version.files_sha256[:12],
    }
    return {name: value for name, value in facts.items() if value is not None}
