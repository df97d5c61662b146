"""A team's view of a campaign's results: its own and public bots by name, other bots under pseudonyms.

Numbers equal the operator's results. Texts of the results are left out, since reasons may name bots. No order depends
on names, since an alphabetical order would reveal something about hidden names.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.analytics.stats import HUMAN
from spotthebot.contracts.analytics.measures import MeasureOut
from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.ranking import RankedBot, RankedBy
from spotthebot.contracts.analytics.results import FoolingRatesOut, RankingOut, SurvivalOut, WinRatesOut
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.standings import (
    ShownAs,
    StandingBot,
    StandingMeasure,
    StandingMeasuredBot,
    StandingPair,
    StandingSurvival,
)
from spotthebot.contracts.analytics.wins import FoolingRate, PairResult
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.annotation.verdicts import Verdict
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.crypto.pseudonyms import keyed_name

NOT_RANKED: Final = (
    "Some bots of this campaign never met: win rates are over different opponents, and nobody has a rank."
)
NOT_ANNOTATED: Final = "No conversation of your bots was annotated in this campaign."
_PSEUDONYM_BYTES: Final = 10


@dataclass(frozen=True)
class ShownName:
    """The name that a team reads, and whether it is the team's own, a public name or a pseudonym."""

    text: str
    shown_as: ShownAs


@dataclass(frozen=True)
class Names:
    """How one team sees the names of one campaign.

    `bots_by_name` has the bots with each name, since several owners may use the same name in different collections. A
    name counts as the team's only if all bots with this name are the team's. It counts as public only if all of them
    are public.
    """

    bots_by_name: Mapping[str, AbstractSet[UUID | None]]
    own: AbstractSet[UUID]
    public: AbstractSet[UUID]
    key: bytes

    def shown(self, name: str) -> ShownName:
        """Return the name that the team reads for `name`."""
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
    """A campaign's results. A result is None if it cannot be computed from the annotations.

    `verdicts` has the verdicts that were given while the campaign ran, by the names of the pair's bots.
    """

    ranking: RankingOut | None
    win_rates: WinRatesOut | None
    fooling_rates: FoolingRatesOut | None
    survival: SurvivalOut | None
    verdicts: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)

    def verdict(self, bot: str, other: str) -> Verdict:
        """Return the verdict that a pair was given, seen from `bot`."""
        turned = self.verdicts.get((other, bot), "open")
        return self.verdicts.get((bot, other)) or _TURNED.get(turned, turned)

    @property
    def ranked_by(self) -> RankedBy | None:
        """Return the measure that decides the ranks; None if no bot has a rank."""
        ranking = self.ranking.ranking if self.ranking else None
        return ranking.ranked_by if ranking and ranking.reason is None else None


_TURNED: Final[Mapping[Verdict, Verdict]] = MappingProxyType({"ahead": "behind", "behind": "ahead"})
NO_RESULTS: Final = Results(ranking=None, win_rates=None, fooling_rates=None, survival=None)
NO_PERFORMANCES: Final[Mapping[str, BotPerformanceOut]] = MappingProxyType({})
NO_NAMES: Final = Names(bots_by_name={}, own=frozenset(), public=frozenset(), key=b"")


def standing_bots(
    results: Results, names: Names, performances: Mapping[str, BotPerformanceOut] = NO_PERFORMANCES
) -> tuple[StandingBot, ...]:
    """Return all participants: bots by win rate, or by fooling rate if no two bots met, best first, and people last.

    `performances` has the performance of each of the team's bots, by name.
    """
    ranked = {each.bot: each for each in results.ranking.ranking.bots} if results.ranking else {}
    rates = results.fooling_rates.fooling_rates if results.fooling_rates else ()
    curves = _curves(results.survival)
    bots = [_standing_bot(each, ranked.get(each.bot), curves.get(each.bot, ()), names, performances) for each in rates]
    return tuple(sorted(bots, key=_fooling_place if results.ranked_by == "fooling_rates" else _place))


def standing_measure(found: MeasureOut, names: Names) -> StandingMeasure:
    """Return the results of all participants by the headline measure: bots, best first, and people last."""
    bots = [
        StandingMeasuredBot(
            bot=names.shown(each.bot).text,
            shown_as=names.shown(each.bot).shown_as,
            rank_low=each.rank_low,
            rank_high=each.rank_high,
            value=Interval(estimate=each.estimate, low=each.low, high=each.high, uncertainty=each.uncertainty),
            n=each.n,
        )
        for each in found.bots
    ]
    return StandingMeasure(
        **found.model_dump(include=set(Measure.model_fields)),
        bots=tuple(sorted(bots, key=lambda bot: _measured_place(bot, found.better))),
        method=found.method,
        rank_method=found.rank_method,
    )


def _measured_place(bot: StandingMeasuredBot, better: str | None) -> tuple[bool, bool, float, str]:
    estimate = bot.value.estimate
    place = (estimate or 0.0) if better == "lower" else -(estimate or 0.0)
    return bot.shown_as is ShownAs.PEOPLE, estimate is None, place, bot.bot


def standing_speakers(results: Results, names: Names) -> tuple[Speaker, ...]:
    """Return the marks of all participants, under the names that the team reads."""
    ranked = results.ranking.ranking.bots if results.ranking else ()
    found = results.fooling_rates.speakers if results.fooling_rates else ()
    return _shown_speakers(found, {each.bot: each.deciding.estimate for each in ranked}, names)


def measured_speakers(found: MeasureOut, names: Names) -> tuple[Speaker, ...]:
    """Return the marks of all participants in a campaign by its measures, under the names that the team reads."""
    return _shown_speakers(found.speakers, {each.bot: each.estimate for each in found.bots}, names)


def _shown_speakers(
    found: Sequence[Speaker], estimates: Mapping[str, float | None], names: Names
) -> tuple[Speaker, ...]:
    """Return speakers under the names that the team reads: their marks in every figure and table.

    Bots with equal estimates are ordered by name. If one of these bots has a pseudonym, none of them gets a mark, since
    the order would reveal something about its name.
    """
    alike: defaultdict[float | None, list[str]] = defaultdict(list)
    for each in found:
        estimate = estimates.get(each.name)
        if each.name != HUMAN:
            alike[None if estimate is None else round(estimate, 12)].append(each.name)
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
    """Return the games of the team's bots. Wins and losses are counted for the team's bot.

    In a pair of two of the team's bots, they are counted for the better bot.
    """
    pairs = results.win_rates.win_rates.pairs if results.win_rates else ()
    found = [_standing_pair(each, results, names) for each in pairs]
    return tuple(sorted((each for each in found if each is not None), key=lambda pair: (pair.bot, pair.other)))


def _place(bot: StandingBot) -> tuple[bool, bool, float, str]:
    win_rate = bot.win_rate.estimate if bot.win_rate else None
    return bot.shown_as is ShownAs.PEOPLE, win_rate is None, -(win_rate or 0.0), bot.bot


def _fooling_place(bot: StandingBot) -> tuple[bool, float, str]:
    return bot.shown_as is ShownAs.PEOPLE, -(bot.fooling_rate.estimate or 0.0), bot.bot


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
        win_rate=ranked.win_rate if ranked and ranked.fooling_rate is None else None,
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


def _standing_pair(pair: PairResult, results: Results, names: Names) -> StandingPair | None:
    first, second = names.shown(pair.bot), names.shown(pair.other)
    if first.shown_as is ShownAs.OWN:
        win_rate = Interval(estimate=pair.win_rate, low=pair.low, high=pair.high, uncertainty=pair.uncertainty)
        wins, losses, verdict = pair.wins, pair.losses, results.verdict(pair.bot, pair.other)
    elif second.shown_as is ShownAs.OWN:
        first, second = second, first
        turned = (_complement(each) for each in (pair.win_rate, pair.high, pair.low))
        estimate, low, high = turned
        win_rate = Interval(estimate=estimate, low=low, high=high, uncertainty=pair.uncertainty)
        wins, losses, verdict = pair.losses, pair.wins, results.verdict(pair.other, pair.bot)
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
        verdict=verdict,
    )


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share
