import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console

from spotthebot.cli.collections.run import CollectionProgress
from spotthebot.cli.commands import collection_display
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.progress import FailureOut, PairOut, met_bots
from spotthebot.local import progress
from tests.factories.command_line import run_stb

COLLECTION = CollectionOut.model_validate(
    {
        "id": UUID(int=1),
        "name": "everyday-1",
        "domain": "everyday",
        "mode": "all_play_all",
        "state": "collecting",
        "priority": 0,
        "conversations": 40,
        "complete": 12,
        "failed": 3,
        "cancelled": 0,
        "waiting": 5,
        "turns": 300,
        "turns_planned": 1000,
        "rate_turns_per_second": 12.34,
        "seconds_left": 3725.4,
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "finished_at": None,
    }
)
UNTIL = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)
GIVEN_UP = f"{UNTIL.astimezone():%Y-%m-%d %H:%M:%S}"
FAILURES = (
    FailureOut(state="failed", reason="timeout: no answer in 30 s [/red]", bot="slow", conversations=3, until=None),
    FailureOut(state="waiting", reason="unreachable", bot="gone", conversations=5, until=UNTIL),
)


def _progress(pairs: int = 3, **changes: Any) -> CollectionProgress:
    counts = [{"complete": 4}, {"complete": 3, "failed": 1}, {"complete": 1, "running": 3}]
    shown = tuple(
        PairOut(number=number, participants=(f"bot{number}", "[/b]"), conversations=counts[number % 3])
        for number in range(pairs)
    )
    return CollectionProgress(COLLECTION.model_copy(update=changes), shown, FAILURES)


def _drawn(progress: CollectionProgress, max_pairs: int) -> str:
    drawn = io.StringIO()
    console = Console(file=drawn, width=120)
    console.print(collection_display._render(progress, max_pairs=max_pairs))
    return drawn.getvalue()


class TestProgressLine:
    def test_says_how_far_it_is_how_fast_and_how_long(self):
        assert collection_display.progress_line(_progress()) == (
            "collecting: 12 of 40 conversations complete, 3 failed, 5 wait for an unavailable bot, "
            "300 of 1000 turns, 12.3 turns/s, 1:02:05 left"
        )

    def test_leaves_out_what_is_nothing_or_unknown(self):
        done = _progress(state="complete", complete=40, failed=0, waiting=0, turns=1000)
        assert collection_display.progress_line(done) == "complete: 40 of 40 conversations complete, 1000 of 1000 turns"
        started = _progress(failed=0, waiting=0, rate_turns_per_second=None, seconds_left=None)
        assert collection_display.progress_line(started).endswith("300 of 1000 turns")
        paused = FailureOut(state="paused", reason="It limits.", bot="busy", conversations=2, until=UNTIL)
        assert collection_display.progress_line(replace(_progress(), failures=(paused,))).endswith("12.3 turns/s")


class TestTable:
    def test_has_a_row_for_each_pair_and_a_column_for_each_state(self):
        drawn = _drawn(_progress(), max_pairs=10)
        rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in drawn.splitlines() if "bot" in line]
        assert [row for row in rows if row] == [
            ["bot0", "[/b]", "", "4", ""],
            ["bot1", "[/b]", "", "3", "1"],
            ["bot2", "[/b]", "3", "1", ""],
        ]
        assert "Running ┃ Complete ┃ Failed" in drawn
        assert "3 failed, slow to speak: timeout: no answer in 30 s [/red]" in drawn  # a bot's words are no markup
        assert f"5 wait for gone until {GIVEN_UP} at most, then they fail: unreachable" in drawn

    def test_with_very_many_pairs_shows_those_that_failed_or_run(self):
        drawn = _drawn(_progress(pairs=300), max_pairs=20)
        numbers = [int(line.split("bot")[1].split()[0]) for line in drawn.splitlines() if "│ bot" in line]
        assert numbers == [number for number in range(60) if number % 3 == 1]  # the first twenty with a failure
        assert "and 280 more pairs" in drawn


class TestWatching:
    def test_without_a_terminal_prints_a_line_at_each_change_of_state(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ):
        console = Console(stderr=True, width=300)
        monkeypatch.setattr(collection_display, "screen", console)  # the module's writes to the real one
        with collection_display.showing_collection() as show:
            for turns in (0, 100, 200):
                show(_progress(turns=turns))
            show(_progress(state="paused"))
            show(_progress(state="complete"))
        lines = capsys.readouterr().err.splitlines()
        assert [line.split(":")[0].strip() for line in lines] == [
            "collecting",
            "3 failed, slow to speak",
            f"5 wait for gone until {GIVEN_UP[:-6]}",
            "paused",
            "complete",
            "3 failed, slow to speak",
            f"5 wait for gone until {GIVEN_UP[:-6]}",
        ]

    def test_without_a_terminal_prints_each_reason_once_and_that_a_bot_is_not_waited_for_any_more(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(progress, "screen", Console(stderr=True, width=20))
        monkeypatch.setattr(collection_display, "screen", Console(file=io.StringIO()))
        now = datetime.now(UTC)
        one = FAILURES[1].model_copy(update={"conversations": 1, "until": now})
        with collection_display.showing_collection() as show:
            for failures in (FAILURES, (FAILURES[0], one), FAILURES[:1], (), (FAILURES[0], one)):
                show(replace(_progress(), failures=failures))
        lines = capsys.readouterr().err.splitlines()
        assert [line.strip() for line in lines] == [
            "3 failed, slow to speak: timeout: no answer in 30 s [/red]",
            f"5 wait for gone until {GIVEN_UP} at most, then they fail: unreachable",
            "nothing waits for gone any more",
            f"1 waits for gone until {now.astimezone():%H:%M:%S} at most, then it fails: unreachable",
        ]

    def test_without_a_terminal_prints_with_a_line_of_progress_which_paused_bot_is_waited_for_and_until_when(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(progress, "screen", Console(stderr=True, width=20))
        monkeypatch.setattr(collection_display, "screen", Console(file=io.StringIO()))
        paused = FailureOut(state="paused", reason="It limits.", bot="busy", conversations=2, until=UNTIL)
        later = paused.model_copy(update={"conversations": 1, "until": UNTIL + timedelta(days=1)})
        with collection_display.showing_collection() as show:
            for state, failures in (("collecting", (paused,)), ("paused", (paused,)), ("collecting", (later,))):
                show(replace(_progress(state=state), failures=failures))
                show(replace(_progress(state=state), failures=failures))
        next_day = f"{(UNTIL + timedelta(days=1)).astimezone():%Y-%m-%d %H:%M:%S}"
        assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
            f"2 wait for busy, which is asked again at {GIVEN_UP}: It limits.",
            f"1 waits for busy, which is asked again at {next_day}: It limits.",
        ]


class TestMetBots:
    def test_counts_what_did_not_fail_and_nothing_if_two_bots_never_met(self):
        def pair(first: str, second: str, **counts: int) -> PairOut:
            return PairOut(number=0, participants=(first, second), conversations=counts)

        of_two = [pair("a", "b", complete=2, failed=1), pair("b", "a", running=1), pair("a", "a", complete=9)]
        assert met_bots(of_two) == {("a", "b"): 3}
        assert met_bots([*of_two, pair("b", "c", complete=1)]) == {}
        assert len(met_bots([*of_two, pair("b", "c", complete=1), pair("a", "c", complete=1)])) == 3


def test_a_new_name_that_nobody_could_read_is_refused_before_any_service_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPOTTHEBOT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SPOTTHEBOT_KEY", f"stb_admin_{'0' * 32}_{'x' * 43}")
    refused = run_stb("collections", "rename", "x", " ")
    assert (refused.returncode, "Invalid value: name: " in refused.stderr) == (2, True), refused.stderr
