"""Numbers are written as people of a language do."""

import doctest

import pytest

from spotthebot.web.layout import domain as layout_domain
from spotthebot.web.layout.domain import NOTHING, Numbers


class TestNumbers:
    def test_are_written_as_their_worked_examples_say(self):
        tried = doctest.testmod(layout_domain)
        assert tried.attempted > 8
        assert tried.failed == 0

    @pytest.mark.parametrize(("share", "text"), [(0.004, "< 1 %"), (0.996, "> 99 %"), (1.0, "100 %"), (None, NOTHING)])
    def test_never_round_a_share_to_nothing_or_all(self, share: float | None, text: str):
        assert Numbers("en").percent(share) == text
