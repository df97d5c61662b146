"""Conversations of one text: every interval and test is that of a study in which they are one conversation."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spotthebot.analytics.stats.alpha import label_alpha
from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.annotators import annotator_quality
from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.frames import from_dataframe
from spotthebot.analytics.stats.label_agreement import label_agreement
from spotthebot.analytics.stats.more_data import plan_more
from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.segments import segment_results
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.stability import stability_sizes
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.survival.log_rank import log_rank_tests
from spotthebot.analytics.stats.wins import Unit, play_games
from tests.factories.clustered_campaigns import Setting, draw_labels

CHANCES = np.array([[0.2, 0.3, 0.4], [0.4, 0.5, 0.6], [0.5, 0.6, 0.7]])


@pytest.fixture(scope="module")
def table() -> AnnotationTable:
    """Three bots, 12 conversations a pair, of which each three have one text."""
    drawn = draw_labels(Setting(3, 12, 9, 0.18, taste=True), CHANCES, 0.8 - CHANCES, np.random.default_rng(3))
    return replace(drawn, text=drawn.conversation // 3 * 3)


def joined(table: AnnotationTable) -> AnnotationTable:
    """The same annotations as if the conversations of one text were one, whose sides stand in one order."""
    return replace(table, conversation=table.text)


def numbers(result: Any) -> list[float]:
    """All numbers of a result: the order of a sum may differ in the last digit."""
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", repr(result))]


STATISTICS: dict[str, Callable[[AnnotationTable], Any]] = {
    "ranking": lambda table: rank_bots(play_games(table)),
    "pairs": lambda table: pair_tests(play_games(table)),
    "strengths": lambda table: rate_davidson(play_games(table)),
    "fooling rates": fooling_rates,
    "segments": segment_results,
    "survival": lambda table: survival_curves(current_status(table)),
    "log-rank": lambda table: log_rank_tests(current_status(table)),
    "annotators": lambda table: annotator_quality(table).uncertainty,
    "correlation": lambda table: outcome_correlation(play_games(table)),
    "plan": lambda table: plan_more(play_games(table)),
}


class TestConversationsOfOneText:
    @pytest.mark.parametrize("statistic", STATISTICS)
    def test_are_one_conversation_to_every_interval_and_test(self, table: AnnotationTable, statistic: str):
        compute = STATISTICS[statistic]
        found = numbers(compute(table))
        assert found == pytest.approx(numbers(compute(joined(table))), rel=1e-9, abs=1e-12)
        assert found != pytest.approx(numbers(compute(replace(table, text=table.conversation))), rel=1e-3)

    def test_are_one_conversation_to_cox_regressions(self, table: AnnotationTable):
        lead = np.where(table.label[:, :1] > table.label[:, 1:], [[1, 0]], [[1, 1]])
        table = replace(table, features={"fluency": lead})
        alone = replace(table, text=table.conversation)
        found, expected, other = (
            numbers(cox_regressions(current_status(each), features=["fluency"]))
            for each in (table, joined(table), alone)
        )
        assert found == pytest.approx(expected, rel=1e-9)
        assert found != pytest.approx(other, rel=1e-3)

    def test_widen_the_intervals_of_agreement_and_leave_the_coefficients(self, table: AnnotationTable):
        alone = replace(table, text=table.conversation)
        measures: tuple[Callable[[AnnotationTable], Any], ...] = (label_alpha, lambda each: label_agreement(each)[0])
        for measure in measures:
            found, expected = measure(table), measure(alone)
            assert found.estimate == expected.estimate
            (few, n_few), (many, n_many) = (
                (each.uncertainty.degrees_of_freedom, each.uncertainty.conversations) for each in (found, expected)
            )
            assert n_few < n_many
            assert few is not None
            assert many is not None
            assert few < many

    def test_move_strengths_together(self, table: AnnotationTable):
        found = rate_skills(play_games(table))
        assert {skill.uncertainty.conversations for skill in found.bots} == {12}

    def test_two_texts_of_a_pair_put_nobody_ahead(self):
        """20 conversations of two texts, 12 annotators of each: the first text fools all of them, the second none."""
        at = np.arange(480)
        text = at // 12 % 2
        columns: dict[str, Any] = {
            "names": ("A", "B"),
            "conversation": at // 24 * 2 + text,
            "entity": np.tile([0, 1], (480, 1)),
            "exchanges": np.full(480, 2),
            "label": np.where((text == 0) | (at % 12 < 8), 2, 0)[:, None] * [1, 0],
            "annotator": at % 12,
        }
        apart, together = (rank_bots(play_games(AnnotationTable(**columns, text=codes))) for codes in (at // 12, text))
        assert [bot.rank_high for bot in apart.bots] == [1, 2]
        assert [bot.rank_high for bot in together.bots] == [2, 2]
        assert together.bots[0].uncertainty.conversations == 2

    def test_are_one_game_of_their_pair_to_the_stability_of_a_ranking(self, table: AnnotationTable):
        games = play_games(table, unit=Unit.CONVERSATION)
        assert stability_sizes(games) == range(3, 5)
        assert stability_sizes(play_games(replace(table, text=table.conversation), unit=Unit.CONVERSATION)) == range(
            3, 13
        )

    def test_are_one_cluster_across_speakers_too(self):
        rows = [(at, "A", "BC"[at % 2], 2, "human", "bot" if at % 3 else "human", at % 5) for at in range(12)]
        table = AnnotationTable.from_rows(rows)
        one = replace(table, text=table.conversation // 2)
        assert rank_bots(play_games(one)).bots[0].uncertainty.conversations == 6


class TestColumnText:
    ROWS = (("x", "hello"), ("y", "hello"), ("x", "hello"), ("z", "good day"))

    def _frame(self, rows: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
        same = {"first": "A", "second": "B", "exchanges": 2, "label_first": "human", "label_second": "bot"}
        return pd.DataFrame(
            [{"conversation": key, "text": text, "annotator": at} | same for at, (key, text) in enumerate(rows)]
        )

    def test_says_which_conversations_have_one_text(self):
        table = from_dataframe(self._frame(self.ROWS))
        assert (table.conversation.tolist(), table.text.tolist()) == ([0, 1, 0, 2], [0, 0, 0, 1])

    def test_may_be_missing(self):
        table = from_dataframe(self._frame(self.ROWS).drop(columns="text"))
        assert table.text.tolist() == table.conversation.tolist()

    @pytest.mark.parametrize(
        ("rows", "fault"),
        [
            ((("x", "hello"), ("x", "bye")), "row 1, column text: 'bye' was said, but 'hello' in an earlier row"),
            ((("x", None), ("y", "bye")), "row 0, column text: nothing is there"),
        ],
    )
    def test_is_the_same_in_all_rows_of_a_conversation(self, rows: tuple[tuple[str, Any], ...], fault: str):
        with pytest.raises(AnnotationTableMalformed, match=fault):
            from_dataframe(self._frame(rows))
