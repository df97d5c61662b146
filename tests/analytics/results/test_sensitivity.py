"""The ranking under other choices: what "unsure" counts as, the filter and the unit."""

import pytest

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, compute_section
from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.rank_agreement import kendall_tau
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.wins import play_games
from spotthebot.contracts.analytics.results import SensitivityOut

HUMAN, UNSURE, BOT = 2, 1, 0


def _study(games, *, unfinished=()):
    """Three annotators annotate every conversation of (first, second, labels); those of `unfinished` only the first."""
    keys = [f"c{at}" for at in range(len(games))]
    annotations = [
        CodedAnnotation(key, "p", 2, f"a{who}", labels, (0, 0, 0), None)
        for who in range(3 + len(unfinished))
        for key, (_, _, labels) in zip(keys, games, strict=True)
        if who < 3
    ]
    annotations += [
        CodedAnnotation(key, "p", 2, f"b{at}", labels, (0, 0, 0), None) for at, (key, labels) in enumerate(unfinished)
    ]
    return LabelledCampaign(
        campaign_id=None,
        campaign="s",
        domain="everyday",
        complete=True,
        speakers={key: (first, second) for key, (first, second, _) in zip(keys, games, strict=True)},
        packages={"p": frozenset(keys)},
        annotations=annotations,
    )


def _sensitivity(study, **parameters):
    out = compute_section(SECTIONS["sensitivity"], study, Parameters(**parameters))
    assert isinstance(out, SensitivityOut)
    return out.sensitivity


class TestSensitivity:
    def test_changes_one_choice_at_a_time(self):
        found = _sensitivity(_study([("A", "B", (HUMAN, BOT))]), unit="segment", filter="none")
        assert [(each.choice, each.value) for each in found.alternatives if each.choice != "unsure"] == [
            ("filter", "complete_packages"),
            ("unit", "annotation"),
            ("unit", "conversation"),
        ]
        assert [each.choice for each in found.alternatives].count("unsure") == 3

    def test_ranks_by_each_treatment_of_unsure(self):
        # Unsure beats bot 3 times, human beats unsure 2 times: as bot only B's wins stay, as human only A's.
        games = [("A", "B", (UNSURE, BOT))] * 3 + [("A", "B", (UNSURE, HUMAN))] * 2
        found = _sensitivity(_study(games))
        as_bot, as_human, left_out = (each for each in found.alternatives if each.choice == "unsure")
        assert found.order == ("A", "B")
        assert (as_bot.order, as_bot.kendall_tau) == (("B", "A"), -1.0)
        assert (as_human.order, as_human.kendall_tau) == (("A", "B"), 1.0)
        assert (left_out.order, left_out.kendall_tau) == ((), None)

    @pytest.mark.parametrize("filter_", ["complete_packages", "none"])
    def test_takes_the_other_filter_from_the_whole_study(self, filter_):
        games = [("A", "B", (HUMAN, BOT)), ("A", "B", (BOT, BOT))]
        study = _study(games, unfinished=[("c1", (BOT, HUMAN))] * 4)
        found = _sensitivity(study, filter=filter_)
        (other,) = (each for each in found.alternatives if each.choice == "filter")
        # Of those who finished A wins all three games; the others give B four.
        orders = {"complete_packages": ("A", "B"), "none": ("B", "A")}
        assert found.order == orders[filter_]
        assert other.order == orders[other.value] != found.order

    def test_names_the_bots_whose_ranks_are_others(self):
        # All 12 conversations are won by "unsure" against "bot": with unsure for a bot nothing is decided.
        found = _sensitivity(_study([("A", "B", (UNSURE, BOT))] * 12), significance_level=0.3)
        as_bot, as_human = found.alternatives[:2]
        assert as_bot.moved == ("A", "B")
        assert as_human.moved == ()
        # Of A's 36 wins by three annotators each conversation is won: A is first and B second, as without the change.
        assert (as_human.order, as_human.rank_low, as_human.rank_high) == (("A", "B"), (1, 2), (1, 2))
        assert (as_bot.order, as_bot.rank_low) == ((), ())

    def test_say_why_the_data_tell_no_bots_apart(self):
        (found,) = (
            each
            for each in _sensitivity(_study([("A", "B", (HUMAN, BOT))] * 12)).alternatives
            if each.value == "segment"
        )
        # Games of segments join annotators, of whom there must be 20.
        assert (found.rank_low, found.rank_high) == ((1, 1), (2, 2))
        assert found.reason is not None
        assert found.reason.startswith("3 annotators are too few")


class TestKendallTau:
    def test_counts_bots_that_both_rankings_have(self):
        rows = [(at, *pair, 2, "human", "bot", at) for at, pair in enumerate(("AB", "BC", "AC"))]
        whole, part = (
            rank_bots(play_games(AnnotationTable.from_rows(some)), n_resamples=1) for some in (rows, rows[:1])
        )
        assert kendall_tau(whole, part) == 1.0
