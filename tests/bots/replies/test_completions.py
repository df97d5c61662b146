"""Completions: where a reply is cut, and what counts as a token."""

import doctest

import pytest

from spotthebot.bots.replies import domain as replies_domain
from spotthebot.bots.replies.domain import complete, count_tokens


class TestComplete:
    def test_holds_the_example_of_its_docstring(self):
        assert doctest.testmod(replies_domain).failed == 0

    @pytest.mark.parametrize("text", ["Hello there, you!", "Wie geht's dir?", "今日は暑いね。", "สวัสดี", "a\nb  c", ""])
    def test_cut_at_its_own_count_is_whole(self, text: str):
        whole = complete(text, max_tokens=count_tokens([text]) or None, stop=[])
        assert (whole.text, whole.finish_reason, whole.tokens) == (text, "stop", count_tokens([text]))

    def test_counts_each_character_of_a_script_without_spaces(self):
        assert count_tokens(["今日は暑いね。"]) == 7
        assert complete("今日は暑いね。", max_tokens=2, stop=[]).text == "今日"
        assert count_tokens(["GPTは"]) == 2
