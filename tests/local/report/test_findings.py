"""What a report and the printed ranking say first is what the ranks tell, by name of the measure."""

import doctest
import re
from collections.abc import Sequence

import pytest
from rich.console import Console

from spotthebot.analytics.stats import Design
from spotthebot.analytics.stats.design_reach import lowest_p
from spotthebot.cli.results.ranking import print_ranking
from spotthebot.contracts.analytics import differences as analytics_differences
from spotthebot.contracts.analytics.provenance import Uncertainty
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.findings import adjustment_words, difference_finding, findings
from tests.factories.analyses import analysis

_RESULTS = analysis(("A", "B", "C"))
_HUMAN = "Most often taken for a human is"


def test_the_terminal_shows_intervals_of_trueskill_and_seconds_with_one_decimal():
    shown = Console(record=True, width=120)
    seconds = _RESULTS.time.model_copy(update={"median_seconds": 0.04, "low": 0.0, "high": 74.9})
    bot = _RESULTS.ranking.bots[0]
    assert bot.trueskill is not None
    skill = bot.trueskill.model_copy(update={"mu": 26.66, "low": 26.27, "high": 27.04})
    ranking = _RESULTS.ranking.model_copy(update={"bots": (bot.model_copy(update={"trueskill": skill}),)})
    print_ranking(shown, _RESULTS.model_copy(update={"time": seconds, "ranking": ranking}))
    text = shown.export_text()
    assert "26.7 (26.3-27.0)" in text
    assert "< .1 " in text
    assert "0.0 to 74.9" in text


def results(
    ranks: Sequence[tuple[int, int] | None],
    *,
    games: int = 0,
    log_rank: int = 0,
    intervals: Sequence[tuple[float, float]] = ((0.0, 1.0),) * 3,
    **of_ranking: str,
) -> Analysis:
    """Return results of three bots with these sets of ranks, and so many pairs that each test tells apart."""
    bots = tuple(
        bot.model_copy(
            update={
                "bot": name,
                "rank_low": found and found[0],
                "rank_high": found and found[1],
                "win_rate": bot.win_rate.model_copy(update={"low": low, "high": high}),
            }
        )
        for bot, name, found, (low, high) in zip(_RESULTS.ranking.bots, "ABC", ranks, intervals, strict=True)
    )
    pairs = tuple(
        pair.model_copy(update={"win_rate": 0.5, "significant": at < games, "uncertainty": None})
        for at, pair in enumerate(_RESULTS.win_rates.pairs)
    )
    of_bots = [test for test in _RESULTS.survival.log_rank if "HU" not in {test.bot, test.other}]
    tests = [
        test.model_copy(update={"p_adjusted": 0.5, "significant": test in of_bots[:log_rank] or test not in of_bots})
        for test in _RESULTS.survival.log_rank
    ]
    return _RESULTS.model_copy(
        update={
            "ranking": _RESULTS.ranking.model_copy(update={"bots": bots, **of_ranking}),
            "win_rates": _RESULTS.win_rates.model_copy(update={"pairs": pairs}),
            "survival": _RESULTS.survival.model_copy(update={"log_rank": tuple(tests)}),
        }
    )


def sentences(found: Analysis) -> list[str]:
    """Return the findings but the last, which is of fooling rates."""
    *said, last = findings(found)
    assert last.startswith(_HUMAN)
    return said


class TestFindings:
    def test_count_what_the_ranks_tell_and_then_what_other_measures_do(self):
        assert sentences(results([(1, 3), (1, 3), (1, 3)], games=1, log_rank=2)) == [
            "By mean win rate, none of the 3 pairs of bots can be told apart.",
            (
                "Another test counts only the games of two bots with each other, none with other bots: by it, 1 of 3"
                " pairs of bots can be told apart."
            ),
            (
                "Survival is another measure, of how long bots pass: by log-rank tests, 2 of 3 pairs of bots can be"
                " told apart."
            ),
        ]

    def test_name_the_first_where_all_differences_are_shown(self):
        assert sentences(results([(1, 1), (2, 2), (3, 3)], games=3, log_rank=3)) == [
            "By mean win rate, all 3 pairs of bots can be told apart, with 95 % confidence.",
            "A is ahead of every other bot.",
            (
                "Survival is another measure, of how long bots pass: by log-rank tests, all 3 pairs of bots can be told"
                " apart."
            ),
        ]

    def test_count_a_difference_of_bots_whose_ranks_overlap(self):
        first, second, *_ = findings(results([(1, 2), (1, 3), (2, 3)]))
        assert first == "By mean win rate, 1 of 3 pairs of bots can be told apart, with 95 % confidence."
        assert second == "The best bot is one of A and B."

    def test_explain_intervals_that_part_where_ranks_do_not(self):
        parted = results([(1, 3), (1, 3), (1, 3)], intervals=[(0.8, 0.9), (0.4, 0.85), (0.1, 0.7)])
        assert findings(parted)[1] == (
            "At least 1 pair that cannot be told apart has 95 % intervals of the win rate that do not overlap: an"
            " interval holds for one bot by itself, the ranks hold for all bots at once."
        )

    def test_name_strengths_where_they_decide(self):
        first, second, *_ = findings(results([(1, 3), (1, 3), (1, 3)], ranked_by="strengths"))
        assert first == "By Bradley-Terry strength, none of the 3 pairs of bots can be told apart."
        assert second.startswith("Not all of these bots met")

    def test_say_why_there_is_no_ranking_and_what_survival_shows(self):
        found = sentences(results([None, None, None], log_rank=1, reason="A and C never met"))
        assert found[0] == "No ranking by mean win rate or Bradley-Terry strength: A and C never met."
        assert "1 of 3 pairs" in found[-1]

    def test_do_not_call_uncorrected_differences_sure(self):
        found = results([(1, 1), (2, 2), (3, 3)]).model_copy(update={"correction": "none"})
        assert findings(found)[0] == (
            "By mean win rate, all 3 pairs of bots can be told apart, each at the level 0.05, without a correction for"
            " the number of tests."
        )

    @pytest.mark.parametrize(
        ("best_ranks", "sentence"),
        [
            ({"A": 2, "B": 1}, "By mean win rate, B is ahead of A, sure."),
            ({"A": 1, "B": 1, "C": None}, "By mean win rate, A and B cannot be told apart."),
            ({"A": 1}, "Only A has a mean win rate that can be ranked: there is no other bot to compare it with."),
            ({"A": None}, "There is no ranking by mean win rate: no bot has a decided game."),
        ],
    )
    def test_name_one_or_two_bots(self, best_ranks: dict[str, int | None], sentence: str):
        assert difference_finding("mean win rate", best_ranks, "sure") == sentence

    def test_stand_above_the_printed_ranking(self, capsys: pytest.CaptureFixture[str]):
        found = results([(1, 3), (1, 3), (1, 3)])
        print_ranking(Console(width=200), found)
        text = " ".join(capsys.readouterr().out.split())
        assert text.index(findings(found)[0]) < text.index("TrueSkill")
        assert adjustment_words("holm") in text
        weak = [each.model_copy(update={"annotators": 0}) for each in found.annotators.without_weak]
        crowd = found.annotators.model_copy(update={"without_weak": tuple(weak)})
        print_ranking(Console(width=200), found.model_copy(update={"annotators": crowd}))
        text = " ".join(capsys.readouterr().out.split())
        assert re.search("Kendall's tau without annotators below 50% │ +nobody left", text)

    def test_count_as_the_worked_example_says(self):
        assert doctest.testmod(analytics_differences) == (0, 1)


class TestReach:
    @pytest.mark.parametrize(("conversations", "annotators"), [(2, 2), (4, 6)])
    def test_is_said_where_no_labels_could_tell_a_pair_apart(self, conversations: int, annotators: int):
        design = Design(annotations_per_conversation=6, annotators=annotators)
        bound = lowest_p(conversations, design, n_pairs=3)
        said = _said_of_reach(conversations=conversations, annotators=annotators)
        sentence = (
            "These were too few labels to tell any pair apart: no others of as many conversations and annotators give"
            f" an adjusted p-value below {bound:.2g}. With these {annotators} annotators, 4 conversations of each pair"
            " would do."
        )
        assert said == ([sentence] if bound >= 0.05 else [])

    def test_is_not_said_of_tests_that_the_bound_is_not_of(self):
        assert _said_of_reach(conversations=2, annotators=2, test="sign") == []

    def test_is_not_said_beside_a_pair_that_differs(self):
        """Of 24 games without ties by six annotators in four conversations a pair may have p = .048, as one had."""
        assert _said_of_reach(conversations=4, annotators=6, p_value=0.048) == []


def _said_of_reach(*, conversations: int, annotators: int, p_value: float = 0.5, test: str = "clustered") -> list[str]:
    """Return what is said of reach of three pairs, each with six annotations of so many conversations."""
    found = results([(1, 3)] * 3)
    uncertainty = Uncertainty(
        standard_error=0.2,
        degrees_of_freedom=10,
        conversations=conversations,
        annotators=annotators,
        clusters="both",
        reason=None,
    )
    pairs = tuple(
        pair.model_copy(update={"p_value": p_value, "uncertainty": uncertainty}) for pair in found.win_rates.pairs
    )
    counts = found.counts.model_copy(
        update={"annotated_conversations": 50, "annotations": 300, "annotators": annotators}
    )
    update = {"test": test, "win_rates": found.win_rates.model_copy(update={"pairs": pairs}), "counts": counts}
    return [each for each in findings(found.model_copy(update=update)) if "too few labels" in each]
