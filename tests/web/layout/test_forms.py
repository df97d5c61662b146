"""What stands in forms is read and shown as the worked examples say."""

import doctest

from spotthebot.web.layout import forms


def test_values_are_read_and_shown_as_worked_examples_say():
    tried = doctest.testmod(forms)
    assert tried.attempted >= 2
    assert tried.failed == 0
