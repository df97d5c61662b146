"""Preferences between the two sides of a conversation, corrected by a judge: win rates of pairs, and false ranks."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy

from benchmarks.analytics.judges.campaigns import BOTS, DIFFERENT, TIE, Campaign, own_spread
from benchmarks.analytics.judges.tallies import Tally
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.judged.games import JudgedRanking, judged_preferences
from spotthebot.analytics.stats.judged.values import JudgedValues


def tally_preferences(
    campaigns: Sequence[Campaign],
    answers: Sequence[FloatArray],
    equal: Sequence[Campaign],
    of_equal: Sequence[FloatArray],
    tally: Tally,
) -> None:
    """Count the win rates of pairs of different bots, and the campaigns of equal bots that rank any before another."""
    for campaign, said in zip(campaigns, answers, strict=True):
        truth = truth_of_pairs(campaign.setting.correlation)
        for pair, true in zip(_ranked(campaign, said).pairs, truth.tolist(), strict=True):
            tally.add(true, pair.people, pair.corrected, pair.labels_saved)
    for campaign, said in zip(equal, of_equal, strict=True):
        tally.claims += 1
        tally.false += any(each.rank_low != 1 or each.rank_high != len(BOTS) for each in _ranked(campaign, said).bots)


@cache
def truth_of_pairs(correlation: float) -> FloatArray:
    """Return the share of decided preferences that the first bot of each pair wins; leniency cancels."""
    first, second = np.triu_indices(len(BOTS), 1)
    lead, spread = DIFFERENT[first] - DIFFERENT[second], np.sqrt(2) * own_spread(correlation)
    won, lost = (scipy.special.ndtr((sign * lead - TIE) / spread) for sign in (1, -1))
    share: FloatArray = won / (won + lost)
    return share


def _ranked(campaign: Campaign, said: FloatArray) -> JudgedRanking:
    """Rank by preferences. The judge's expected value is half of 1 plus the lead of the first side."""
    shown = campaign.table.conversation
    rows = np.concatenate([shown, np.setdiff1d(np.arange(len(said)), shown)])
    unasked = len(rows) - len(shown)
    values = JudgedValues(
        bots=BOTS,
        bot=campaign.entity[rows, 0],
        unit=rows,
        conversation=rows,
        annotator=np.concatenate([campaign.table.annotator, np.full(unasked, -1)]),
        value=np.concatenate([campaign.preferred, np.full(unasked, np.nan)]),
        judge=(1 + said[rows, 0] - said[rows, 1]) / 2,
        stratum=campaign.exchanges[rows],
    )
    return judged_preferences(values, campaign.entity[rows, 1])
