"""Results of fooling rates that are made from what the statistics found: each field is stated, one by one."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.partners import partners
from spotthebot.analytics.results.domain.ranking import ranking
from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.fooling_rate import labels_as_ratings
from spotthebot.analytics.stats.partner_rates import partner_differences
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.contracts.analytics.measures import MeasuredPair
from spotthebot.contracts.analytics.partners import OrderCorrelation, PartnerDifference
from spotthebot.contracts.analytics.ranking import RankedBot
from spotthebot.statistics.rank_correlation import rank_correlation
from tests.analytics.test_wire_values import stated, stated_uncertainty
from tests.factories.clustered_campaigns import Setting, draw_chats
from tests.factories.wire_values import assert_is

REQUEST = Parameters(resamples=20)


def _chats(*, with_bots: bool) -> AnnotationTable:
    setting, human = Setting(4, 4, 12, 0.05, taste=True), np.tile(np.linspace(0.2, 0.6, 5)[:, None], 3)
    return draw_chats(setting, 0.8 - human, human, np.random.default_rng(2), with_bots=with_bots)


def _sample(table: AnnotationTable) -> Sample:
    unused = cast("Any", None)
    return Sample(unused, table, np.full(len(table), np.nan), (), {}, unused, "")


class TestFoolingRanks:
    def test_have_what_was_found_of_each_bot_and_each_pair(self):
        table = _chats(with_bots=False)
        answered, ratings = ranking(_sample(table), REQUEST), labels_as_ratings(table)
        rates = {each.bot: each for each in stats.fooling_rates(table)}
        *bots, people = answered.bots
        for bot, ranked in zip(bots, stats.rank_ratings(ratings).bots, strict=True):
            rate = rates[ranked.bot]
            more: dict[str, Any] = dict.fromkeys(
                ("win_rate_with_ties", "tie_rate", "trueskill", "bradley_terry", "reason")
            )
            more["win_rate"] = dict.fromkeys(("estimate", "low", "high", "uncertainty"))
            more["fooling_rate"] = stated(rate, "estimate low high", uncertainty=stated_uncertainty(rate.uncertainty))
            fields = "bot rank_low rank_high cluster"
            assert_is(RankedBot, bot, stated(ranked, fields, rank_probabilities=(), **more))
        assert (people.bot, people.rank_low, people.rank_high, people.cluster) == ("HU", None, None, None)
        assert people.deciding.estimate == rates["HU"].estimate
        for pair, found in zip(answered.fooling_pairs, rating_differences(ratings), strict=True):
            significant = found.p_adjusted is not None and found.p_adjusted < 0.05
            uncertain = {"uncertainty": stated_uncertainty(found.uncertainty), "published": None}
            fields = "bot other estimate low high p_value p_adjusted n reason"
            assert_is(MeasuredPair, pair, stated(found, fields, significant=significant, **uncertain))


class TestPartners:
    def test_have_differences_and_the_correlation_of_orders(self):
        table = _chats(with_bots=True)
        answered = partners(_sample(table), REQUEST)
        for difference, found in zip(answered.differences, partner_differences(table), strict=True):
            significant = found.p_adjusted is not None and found.p_adjusted < 0.05
            uncertain = {"uncertainty": stated_uncertainty(found.uncertainty)}
            fields = "bot estimate low high p_value p_adjusted n_with_people n_with_bots reason"
            assert_is(PartnerDifference, difference, stated(found, fields, significant=significant, **uncertain))
        _, without, including = answered.results
        rates = [
            [next(bot.fooling_rate.estimate for bot in found.bots if bot.bot == f"bot {at}") for at in range(4)]
            for found in (including, without)
        ]
        correlation = rank_correlation(*(np.array(each, dtype=np.float64) for each in rates))
        assert_is(
            OrderCorrelation, answered.correlation, stated(correlation, "estimate low high p_value n method reason")
        )
        assert [(each.conversations, each.annotations) for each in answered.results] == [
            ("all", len(table)),
            ("without_people", 6 * 4 * 6),
            ("with_people", 4 * 12 * 6),
        ]

    def test_games_and_their_ranks_are_the_same_with_and_without_people(self):
        both = _chats(with_bots=True)
        of_bots = replace(both.between_bots(), names=both.names)
        assert ranking(_sample(both), REQUEST) == ranking(_sample(of_bots), REQUEST)

    def test_one_kind_of_partners_says_why_nothing_is_compared(self):
        answered = partners(_sample(_chats(with_bots=False)), REQUEST)
        assert (answered.results, answered.differences, answered.correlation.estimate) == ((), (), None)
        assert answered.reason is not None
