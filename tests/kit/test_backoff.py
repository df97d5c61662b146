"""Waits between attempts."""

from spotthebot.kit.waits.backoff import Backoff


class TestBackoff:
    def test_doubles_up_to_its_longest_wait(self):
        backoff = Backoff(first_seconds=0.5, max_seconds=3.0)
        assert [backoff.seconds(failures) for failures in range(1, 6)] == [0.5, 1.0, 2.0, 3.0, 3.0]

    def test_stays_at_its_longest_wait_after_thousands_of_failures(self):
        assert Backoff(first_seconds=0.25, max_seconds=5.0).seconds(10_000) == 5.0
