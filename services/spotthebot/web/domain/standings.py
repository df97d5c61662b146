"""A team's standings, as its pages put them."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.contracts.analytics import ShownAs, StandingOut


@dataclass(frozen=True)
class Place:
    """The ranks that a bot has in a campaign, of how many bots; None where none were ranked."""

    campaign: str
    rank_low: int | None
    rank_high: int | None
    of: int


def latest_places(standings: Sequence[StandingOut]) -> dict[str, Place]:
    """Return the places of the team's bots by their names, each in the campaign that was released last."""
    places: dict[str, Place] = {}
    for standing in sorted(standings, key=lambda each: each.released_at):
        for bot in standing.bots:
            if bot.shown_as is ShownAs.OWN:
                places[bot.bot] = Place(standing.campaign, bot.rank_low, bot.rank_high, bots_in(standing))
    return places


def bots_in(standing: StandingOut) -> int:
    """Return how many bots took part, people not counted."""
    return sum(bot.shown_as is not ShownAs.PEOPLE for bot in standing.bots)
