import os
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from spotthebot.kit.ids import first_id_at, new_id, new_ids


class TestIds:
    def test_are_laid_out_as_in_rfc_9562(self, monkeypatch: pytest.MonkeyPatch):
        """Appendix A.6 of the RFC: 22 February 2022 19:22:22 UTC, rand_a CC3, rand_b 18C4DC0C0C07398F."""
        moment = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)
        fraction = -(-0xCC3 * 1_000_000 // 4096)  # of a millisecond, in nanoseconds, rounded up
        monkeypatch.setattr(time, "time_ns", lambda: int(moment.timestamp()) * 1_000_000_000 + fraction)
        monkeypatch.setattr(os, "urandom", lambda count: (0xD8C4DC0C0C07398F).to_bytes(count, "big"))
        assert new_id() == UUID("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")

    @pytest.mark.parametrize("step", [250, 1_000_000], ids=["within a millisecond", "a millisecond apart"])
    def test_sort_by_the_time_they_were_made(self, monkeypatch: pytest.MonkeyPatch, step: int):
        clock = iter(range(1_700_000_000_000_000_000, 1_700_000_001_000_000_000, step))
        monkeypatch.setattr(time, "time_ns", lambda: next(clock))
        ids = [new_id() for _ in range(1000)]
        assert ids == sorted(ids)

    def test_made_together_sort_in_the_order_they_are_given(self):
        ids = new_ids(500)
        assert ids == sorted(ids)
        assert len(set(ids)) == 500

    def test_are_of_version_7_and_of_the_rfcs_variant(self):
        assert {(each.version, each.variant) for each in new_ids(100)} == {(7, "specified in RFC 4122")}

    def test_the_first_of_a_moment_is_above_all_before_it_and_below_all_from_then_on(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        moment = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)
        nanoseconds = int(moment.timestamp()) * 1_000_000_000
        first = first_id_at(moment)
        assert first == UUID("017F22E2-79B0-0000-0000-000000000000")  # the time of the RFC's example
        monkeypatch.setattr(time, "time_ns", lambda: nanoseconds)
        assert first < new_id() < first_id_at(moment + timedelta(milliseconds=1))
        monkeypatch.setattr(time, "time_ns", lambda: nanoseconds - 1_000_000)
        assert new_id() < first

    def test_there_is_none_before_1970(self):
        assert first_id_at(datetime(1969, 12, 31, tzinfo=UTC)) == UUID(int=0)
        assert first_id_at(datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)) == UUID(int=1 << 80)
