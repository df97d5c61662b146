"""The diversity of bots, by overlaps worked out by hand."""

import doctest

import pytest

from spotthebot.statistics import reply_overlap as module
from spotthebot.statistics.reply_overlap import reply_diversity


class TestReplyDiversity:
    def test_the_worked_example_holds(self):
        assert doctest.testmod(module).failed == 0

    def test_bots_that_share_no_words_count_each(self):
        found = reply_diversity({bot: [f"{bot} {bot}x {bot}y"] * 4 for bot in "abcd"})
        assert found.mean_overlap == 0
        assert found.effective_bots == 4

    def test_copies_count_as_one_even_if_a_bot_never_repeats_itself(self):
        """Halves of each bot share one word pair of three; so do a half of one and the other half of its copy."""
        said = ["one two three", "two three four"]
        found = reply_diversity({"a": said, "b": said})
        assert found.own == pytest.approx({"a": 1 / 3, "b": 1 / 3})
        assert found.pairs[0].overlap == pytest.approx(1 / 3)
        assert found.effective_bots == pytest.approx(1.0)

    def test_bots_of_one_reply_are_left_out(self):
        assert reply_diversity({"a": ["hello"], "b": ["yes", "Yes"]}).own == {"b": 1.0}
        assert reply_diversity({}).effective_bots == 0
