"""A team's standings, as its pages put them."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.standings import ShownAs, StandingOut
from spotthebot.web.domain.marks import marks_of


@dataclass(frozen=True)
class LatestRank:
    """The ranks that a bot has in a campaign, of how many bots; None where none were ranked."""

    campaign: str
    rank_low: int | None
    rank_high: int | None
    of: int
    speaker: Speaker | None = None
    """What marks the bot there."""


def latest_ranks(standings: Sequence[StandingOut]) -> dict[str, LatestRank]:
    """Return the ranks of the team's bots by their names, each in the campaign that was released last."""
    ranks: dict[str, LatestRank] = {}
    for standing in sorted(standings, key=lambda each: each.released_at):
        marks = marks_of(standing.speakers)
        for bot in standing.bots:
            if bot.shown_as is ShownAs.OWN:
                ranks[bot.bot] = LatestRank(
                    standing.campaign, bot.rank_low, bot.rank_high, bots_in(standing), marks.get(bot.bot)
                )
    return ranks


def bots_in(standing: StandingOut) -> int:
    """Return how many bots took part, people not counted."""
    return sum(bot.shown_as is not ShownAs.PEOPLE for bot in standing.bots)
