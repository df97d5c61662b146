"""Shows a running collection: as a live table on a terminal, otherwise as a line every ten seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from spotthebot.cli.collections.run import CollectionProgress
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.progress import FailureOut, PairOut
from spotthebot.local.progress import say, screen

_LINE_EVERY_SECONDS = 10.0
_FRAME_LINES = 10
"""The number of lines above and below the table of pairs."""
_REASONS_SHOWN = 5

ShowProgress = Callable[[CollectionProgress], None]


@contextmanager
def showing_collection() -> Iterator[ShowProgress]:
    """Yield a function that shows the progress of a collection."""
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    with Live(console=screen, refresh_per_second=4) as live:
        yield lambda progress: live.update(_render(progress, max_pairs=max(3, screen.height - _FRAME_LINES)))


class _Lines:
    """Prints a line of progress every ten seconds and at each change of state, and each new reason of a failure."""

    def __init__(self) -> None:
        self._due = 0.0
        self._state: CollectionState | None = None
        self._reported: set[tuple[str, str | None, str]] = set()
        self._awaited: set[str | None] = set()
        self._pauses: dict[str | None, datetime | None] = {}

    def show(self, progress: CollectionProgress) -> None:
        if time.monotonic() >= self._due or progress.collection.state is not self._state:
            screen.print(progress_line(progress), highlight=False, soft_wrap=True)
            self._due = time.monotonic() + _LINE_EVERY_SECONDS
            self._state = progress.collection.state
            for each in self._new_pauses(progress):
                say(f"  {_reason(each)}")
        for line in reasons(progress) if progress.has_ended else self._news(progress):
            say(f"  {line}")

    def _news(self, progress: CollectionProgress) -> Iterator[str]:
        """Yield the reasons that were not printed before, and the bots for which no conversation waits any more."""
        for each in [each for each in progress.failures if each.state != "paused"][:_REASONS_SHOWN]:
            if (key := (each.state, each.bot, each.reason)) not in self._reported:
                self._reported.add(key)
                yield _reason(each)
        awaited = {each.bot for each in progress.failures if each.state == "waiting"}
        for bot in sorted(map(str, self._awaited - awaited)):
            yield f"nothing waits for {bot} any more"
        self._reported -= {key for key in self._reported if key[0] == "waiting" and key[1] not in awaited}
        self._awaited = awaited

    def _new_pauses(self, progress: CollectionProgress) -> list[FailureOut]:
        """Return the paused bots whose pause was not printed before or has another end by now."""
        paused = [each for each in progress.failures if each.state == "paused"]
        known, self._pauses = self._pauses, {each.bot: each.until for each in paused}
        return [each for each in paused if known.get(each.bot) != each.until]


def progress_line(progress: CollectionProgress) -> str:
    """Return a line with the progress of a collection."""
    seen = progress.collection
    parts = [
        f"{seen.state}: {seen.complete} of {seen.conversations} conversations complete",
        *([f"{seen.failed} failed"] if seen.failed else []),
        *([f"{seen.cancelled} cancelled"] if seen.cancelled else []),
        *([f"{seen.waiting} wait for an unavailable bot"] if seen.waiting else []),
        f"{seen.turns} of {seen.turns_planned} turns",
    ]
    if seen.rate_turns_per_second is not None and not progress.has_ended:
        parts.append(f"{seen.rate_turns_per_second:.1f} turns/s")
    is_paused = any(each.state == "paused" for each in progress.failures)
    if seen.seconds_left is not None and not progress.has_ended and not is_paused:
        parts.append(f"{timedelta(seconds=round(seen.seconds_left))} left")
    return ", ".join(parts)


def reasons(progress: CollectionProgress) -> Iterator[str]:
    """Yield the reasons why conversations failed or wait, with the bot of each."""
    yield from map(_reason, progress.failures[:_REASONS_SHOWN])
    if len(progress.failures) > _REASONS_SHOWN:
        yield f"... and {len(progress.failures) - _REASONS_SHOWN} more reasons"


def _reason(failure: FailureOut) -> str:
    number, bot = failure.conversations, failure.bot or "nobody"
    if failure.until is None:
        return f"{number} failed, {bot} to speak: {failure.reason}"
    if failure.state == "paused":
        waits = "waits" if number == 1 else "wait"
        return f"{number} {waits} for {bot}, which is asked again at {_clock(failure.until)}: {failure.reason}"
    waits, fails = ("waits", "it fails") if number == 1 else ("wait", "they fail")
    return f"{number} {waits} for {bot} until {_clock(failure.until)} at most, then {fails}: {failure.reason}"


def _clock(moment: datetime) -> str:
    """Return a time in this machine's time zone, with the date if it is not today."""
    here = moment.astimezone()
    return f"{here:%H:%M:%S}" if here.date() == datetime.now().astimezone().date() else f"{here:%Y-%m-%d %H:%M:%S}"


def _render(progress: CollectionProgress, *, max_pairs: int) -> RenderableType:
    states = [state for state in ConversationState if any(state in pair.conversations for pair in progress.pairs)]
    table = Table(
        "Begins", "Answers", *(state.capitalize() for state in states), title=Text(progress.collection.name), keys=2
    )
    shown = sorted(progress.pairs, key=_interest)[:max_pairs]
    for pair in sorted(shown, key=lambda pair: pair.number):
        counts = (str(pair.conversations.get(state, "")) for state in states)
        table.add_row(*map(Text, pair.participants), *counts)  # a name is no markup
    if len(progress.pairs) > len(shown):
        table.caption = f"and {len(progress.pairs) - len(shown)} more pairs"
    printed = [Text(progress_line(progress)), *(Text(reason, style="yellow") for reason in reasons(progress))]
    return Group(table, *printed)


def _interest(pair: PairOut) -> tuple[int, int]:
    """Return a sort key: pairs with failed conversations first, next pairs with running ones, last all others."""
    counts = pair.conversations
    failed, running = (counts.get(state, 0) for state in (ConversationState.FAILED, ConversationState.RUNNING))
    return (0 if failed else 1 if running else 2), pair.number
