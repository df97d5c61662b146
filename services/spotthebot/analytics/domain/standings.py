"""What a team sees of a campaign's results: its own bots by name, the others under pseudonyms unless they are public.

Figures are those of the operator's results. No text of the results is passed on, since reasons may name bots, and no
order that follows names: an alphabetical one would tell something of those that are hidden.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.analytics.stats import HUMAN
from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.ranking import RankedBot, RankedBy
from spotthebot.contracts.analytics.results import FoolingRatesOut, RankingOut, SurvivalOut, WinRatesOut
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.standings import ShownAs, StandingBot, StandingPair, StandingSurvival
from spotthebot.contracts.analytics.wins import FoolingRate, PairResult
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.crypto.pseudonyms import keyed_name

NOT_RANKED: Final = (
    "Some bots of this campaign never met: win rates are over different opponents, and nobody has a rank."
)
NOT_ANNOTATED: Final = "No conversation of your bots was annotated in this campaign."
NO_RANKS: Final = (
    "This campaign asks by the protocol '{protocol}', by which no bots are ranked: ranks, win rates, fooling rates and"
    " survival come from labels of who is a bot."
)
_PSEUDONYM_BYTES: Final = 10


@dataclass(frozen=True)
class ShownName:
    """What a team reads in place of a name of the results."""

    text: str
    shown_as: ShownAs


@dataclass(frozen=True)
class Names:
    """How one team sees the names of one campaign.

    `bots_by_name` says who has a name: bots of several owners may, in several collections of one campaign. A name is
    the team's, or public, only if all who have it are.
    """

    bots_by_name: Mapping[str, AbstractSet[UUID | None]]
    own: AbstractSet[UUID]
    public: AbstractSet[UUID]
    key: bytes

    def shown(self, name: str) -> ShownName:
        """Return what the team reads in place of a name."""
        if name == HUMAN:
            return ShownName(name, ShownAs.PEOPLE)
        bots = self.bots_by_name.get(name, {None})
        if bots <= self.own:
            return ShownName(name, ShownAs.OWN)
        if bots <= self.own | self.public:
            return ShownName(name, ShownAs.PUBLIC)
        return ShownName(f"bot-{keyed_name(self.key, name.encode(), size=_PSEUDONYM_BYTES)}", ShownAs.PSEUDONYM)


@dataclass(frozen=True)
class Results:
    """A campaign's results; None where the annotations do not allow one."""

    ranking: RankingOut | None
    win_rates: WinRatesOut | None
    fooling_rates: FoolingRatesOut | None
    survival: SurvivalOut | None

    @property
    def ranked_by(self) -> RankedBy | None:
        """What decides the ranks; None where no bot has one."""
        ranking = self.ranking.ranking if self.ranking else None
        return ranking.ranked_by if ranking and ranking.reason is None else None


NO_RESULTS: Final = Results(ranking=None, win_rates=None, fooling_rates=None, survival=None)
NO_PERFORMANCES: Final[Mapping[str, BotPerformanceOut]] = MappingProxyType({})
NO_NAMES: Final = Names(bots_by_name={}, own=frozenset(), public=frozenset(), key=b"")


def standing_bots(
    results: Results, names: Names, performances: Mapping[str, BotPerformanceOut] = NO_PERFORMANCES
) -> tuple[StandingBot, ...]:
    """Return all who took part: bots by their win rate, the best first, and people last.

    `performances` are those of the team's bots, by name.
    """
    ranked = {each.bot: each for each in results.ranking.ranking.bots} if results.ranking else {}
    rates = results.fooling_rates.fooling_rates if results.fooling_rates else ()
    curves = _curves(results.survival)
    bots = [_standing_bot(each, ranked.get(each.bot), curves.get(each.bot, ()), names, performances) for each in rates]
    return tuple(sorted(bots, key=_place))


def standing_speakers(results: Results, names: Names) -> tuple[Speaker, ...]:
    """Return the marks of all who took part, under the names that the team reads: those of every figure and table.

    Bots of one win rate stand by their names: where one of them is hidden none has a mark, which would tell of names.
    """
    found = results.fooling_rates.speakers if results.fooling_rates else ()
    ranked = results.ranking.ranking.bots if results.ranking else ()
    rates = {each.bot: each.win_rate.estimate for each in ranked}
    alike: defaultdict[float | None, list[str]] = defaultdict(list)
    for each in found:
        rate = rates.get(each.name)
        if each.name != HUMAN:
            alike[None if rate is None else round(rate, 12)].append(each.name)
    unmarked = {
        name
        for bots in alike.values()
        if len(bots) > 1 and any(names.shown(bot).shown_as is ShownAs.PSEUDONYM for bot in bots)
        for name in bots
    }
    return tuple(
        each.model_copy(update={"name": names.shown(each.name).text}) for each in found if each.name not in unmarked
    )


def standing_pairs(results: Results, names: Names) -> tuple[StandingPair, ...]:
    """Return the games of the team's bots, each from its own side; of two of its own from that of the better one."""
    found = [_standing_pair(each, names) for each in (results.win_rates.win_rates.pairs if results.win_rates else ())]
    return tuple(sorted((each for each in found if each is not None), key=lambda pair: (pair.bot, pair.other)))


def _place(bot: StandingBot) -> tuple[bool, bool, float, str]:
    win_rate = bot.win_rate.estimate if bot.win_rate else None
    return bot.shown_as is ShownAs.PEOPLE, win_rate is None, -(win_rate or 0.0), bot.bot


def _standing_bot(
    rate: FoolingRate,
    ranked: RankedBot | None,
    survival: Sequence[StandingSurvival],
    names: Names,
    performances: Mapping[str, BotPerformanceOut],
) -> StandingBot:
    shown = names.shown(rate.bot)
    return StandingBot(
        bot=shown.text,
        shown_as=shown.shown_as,
        rank_low=ranked.rank_low if ranked else None,
        rank_high=ranked.rank_high if ranked else None,
        win_rate=ranked.win_rate if ranked else None,
        fooling_rate=Interval(estimate=rate.rate, low=rate.low, high=rate.high, uncertainty=rate.uncertainty),
        labels=rate.n,
        survival=tuple(survival),
        performance=performances.get(rate.bot) if shown.shown_as is ShownAs.OWN else None,
    )


def _curves(found: SurvivalOut | None) -> dict[str, tuple[StandingSurvival, ...]]:
    if found is None:
        return {}
    return {
        curve.bot: tuple(
            StandingSurvival(
                exchanges=time, survival=Interval(estimate=estimate, low=low, high=high, uncertainty=uncertainty)
            )
            for time, estimate, low, high, uncertainty in zip(
                found.survival.times, curve.survival, curve.low, curve.high, curve.uncertainty, strict=True
            )
            if estimate is not None
        )
        for curve in found.survival.curves
    }


def _standing_pair(pair: PairResult, names: Names) -> StandingPair | None:
    first, second = names.shown(pair.bot), names.shown(pair.other)
    if first.shown_as is ShownAs.OWN:
        win_rate = Interval(estimate=pair.win_rate, low=pair.low, high=pair.high, uncertainty=pair.uncertainty)
        wins, losses = pair.wins, pair.losses
    elif second.shown_as is ShownAs.OWN:
        first, second = second, first
        turned = (_complement(each) for each in (pair.win_rate, pair.high, pair.low))
        estimate, low, high = turned
        win_rate = Interval(estimate=estimate, low=low, high=high, uncertainty=pair.uncertainty)
        wins, losses = pair.losses, pair.wins
    else:
        return None
    return StandingPair(
        bot=first.text,
        other=second.text,
        wins=wins,
        losses=losses,
        ties=pair.ties,
        win_rate=win_rate,
        p_adjusted=pair.p_adjusted,
        significant=pair.significant,
    )


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share
