"""Bots by behaviours: which end is better decides the order of bots and their ranks."""

import numpy as np
import pytest

from spotthebot.analytics.measures.domain.measures import all_measures, one_measure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.contracts.annotation.measures import ShownTurns
from tests.factories.lazy_imports import lazily
from tests.factories.measured_campaigns import answered, measured_campaign

proportion_confint = lazily("statsmodels.stats.proportion:proportion_confint")
ANY = Parameters(filter="none")


def _shown(protocol: str, question: str, behaviour: str, rates: dict[str, float]) -> MeasuredCampaign:
    """Return a campaign of ten dialogues of each bot, where two of eight annotators see the behaviour in some turns."""
    bots = [*rates]
    drawn = np.random.default_rng(5)
    speakers = {1 + at: (bots[at % len(bots)], "HU") for at in range(10 * len(bots))}
    annotations = []
    for conversation, (bot, _) in speakers.items():
        for annotator in range(2):
            given = {str(2 * turn): [behaviour] if drawn.random() < rates[bot] else [] for turn in range(10)}
            who = f"a{(conversation + 3 * annotator) % 8}"
            annotations.append(answered(conversation, who, {question: given}))
    turns = dict.fromkeys(speakers, ShownTurns(10 * "AB", opening=0, opening_shown=0))
    return measured_campaign(protocol, speakers, annotations, turns=turns)


class TestBehaviours:
    def test_rank_bots_that_show_an_undesirable_one_least_first(self):
        """Two behaviours with the same answers: the order of bots, their ranks and clusters are mirrored."""
        rates = {"ada": 0.1, "bob": 0.5, "cyd": 0.9}
        desired = _shown("abc_personal_information", "life", "life_info", rates)
        undesired = _shown("abc_sociality", "sociality", "antisocial", rates)
        most = one_measure(desired, "life_info", ANY)
        least = one_measure(undesired, "antisocial", ANY)
        assert [each.bot for each in most.bots] == ["cyd", "bob", "ada"]
        assert [each.bot for each in least.bots] == ["ada", "bob", "cyd"]
        assert [(each.rank_low, each.rank_high, each.cluster) for each in most.bots] == [
            (1, 1, 1),
            (2, 2, 2),
            (3, 3, 3),
        ]
        assert [(each.rank_low, each.rank_high, each.cluster) for each in least.bots] == [
            (1, 1, 1),
            (2, 2, 2),
            (3, 3, 3),
        ]
        estimates = {each.bot: (each.estimate, each.low, each.high) for each in most.bots}
        assert {each.bot: (each.estimate, each.low, each.high) for each in least.bots} == estimates
        assert least.pairs == most.pairs

    def test_put_the_bot_that_shows_an_undesirable_headline_least_first_in_every_table(self):
        undesired = _shown("abc_sociality", "sociality", "antisocial", {"ada": 0.9, "bob": 0.1})
        assert [each.name for each in all_measures(undesired, ANY).speakers] == ["bob", "ada", "HU"]

    def test_share_ranks_in_either_direction_where_bots_are_alike(self):
        rates = {"ada": 0.45, "bob": 0.5, "cyd": 0.95}
        least = one_measure(_shown("abc_sociality", "sociality", "antisocial", rates), "antisocial", ANY)
        ranks = {each.bot: (each.rank_low, each.rank_high, each.cluster) for each in least.bots}
        assert ranks == {"ada": (1, 2, 1), "bob": (1, 2, 1), "cyd": (3, 3, 2)}

    def test_have_the_share_of_turns_and_wilson_s_interval_as_published(self):
        """ada shows life info in about half of ten dialogues' turns, ten each, labelled by two people."""
        (ada,) = one_measure(
            _shown("abc_personal_information", "life", "life_info", {"ada": 0.5}), "life_info", ANY
        ).bots
        shown = {each.value: each.n for each in ada.values}[1]
        form = ada.published
        expected = proportion_confint(shown, 200, method="wilson")
        assert (form.estimate, form.mean_of_means, form.n) == pytest.approx((shown / 200, shown / 200, 200))
        assert (form.low, form.high) == pytest.approx(expected)
        assert "Wilson's" in form.method
