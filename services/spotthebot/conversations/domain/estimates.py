"""What a collection will cost, from what is known of its bots before it begins."""

from collections.abc import Sequence
from dataclasses import dataclass

from spotthebot.contracts.bots import Limits
from spotthebot.contracts.conversations import BotWarningOut, EstimateOut


@dataclass(frozen=True)
class Speaker:
    """A bot: the seconds of its median reply, if it was ever measured, and what it bears."""

    name: str
    seconds: float | None
    limits: Limits

    @property
    def seconds_a_turn(self) -> float:
        """Seconds between two replies of this bot when it is asked all that it bears."""
        by_latency = (self.seconds or 0.0) / self.limits.concurrency
        by_pace = 60 / self.limits.requests_per_minute if self.limits.requests_per_minute else 0.0
        return max(by_latency, by_pace)


def estimate(
    bots: Sequence[Speaker],
    partners: Sequence[Speaker],
    *,
    conversations: int,
    by_people: int,
    too_short: int = 0,
    exchanges: int,
    warnings: tuple[BotWarningOut, ...] = (),
) -> EstimateOut:
    """Bound the time from below by two things: the busiest bot, and one conversation from its first turn to its last.

    Without `partners` all bots take equal parts; with them, each side takes half of the turns.
    """
    turns = 2 * exchanges * conversations
    shares = [(bot, turns / 2 / len(side)) for side in ((bots, partners) if partners else (bots, bots)) for bot in side]
    busy: dict[str, float] = {}
    for bot, share in shares:
        busy[bot.name] = busy.get(bot.name, 0.0) + share * bot.seconds_a_turn
    slowest = max(busy, key=lambda name: busy[name])
    known = all(bot.seconds is not None for bot, _ in shares)
    longest = max((bot.seconds or 0.0) for bot in bots) + max((bot.seconds or 0.0) for bot in partners or bots)
    return EstimateOut(
        conversations=conversations + by_people,
        turns=turns,
        by_people=by_people,
        too_short=too_short,
        seconds=round(max(busy[slowest], exchanges * longest), 3) if known else None,
        slowest_bot=slowest,
        warnings=warnings,
    )
