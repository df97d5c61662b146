"""How a collection is shown while it goes on: a live table on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from spotthebot.contracts.conversations import CollectionState, ConversationState, PairOut
from spotthebot.suite.collecting import Sight
from spotthebot.suite.progress import screen

_LINE_EVERY_SECONDS = 10.0
_FRAME_LINES = 10
"""What stands around the pairs."""
_REASONS_SHOWN = 5

Show = Callable[[Sight], None]


@contextmanager
def watching() -> Iterator[Show]:
    """Give what shows each sight of a collection, for as long as it is followed."""
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    with Live(console=screen, refresh_per_second=4) as live:
        yield lambda sight: live.update(_page(sight, most=max(3, screen.height - _FRAME_LINES)))


class _Lines:
    """Prints a line when something begins or ends, and every ten seconds in between."""

    def __init__(self) -> None:
        self._due = 0.0
        self._state: CollectionState | None = None

    def show(self, sight: Sight) -> None:
        if time.monotonic() >= self._due or sight.collection.state is not self._state:
            screen.print(progress_line(sight), highlight=False, soft_wrap=True)
            self._due = time.monotonic() + _LINE_EVERY_SECONDS
            self._state = sight.collection.state
        if sight.has_ended:
            for reason in reasons(sight):
                screen.print(f"  {reason}", markup=False, highlight=False, soft_wrap=True)


def progress_line(sight: Sight) -> str:
    """Say in one line how far a collection is."""
    seen = sight.collection
    parts = [
        f"{seen.state}: {seen.complete} of {seen.conversations} conversations complete",
        *([f"{seen.failed} failed"] if seen.failed else []),
        *([f"{seen.cancelled} cancelled"] if seen.cancelled else []),
        *([f"{seen.waiting} wait for an unavailable bot"] if seen.waiting else []),
        f"{seen.turns} of {seen.turns_planned} turns",
    ]
    if seen.rate_turns_per_second is not None and not sight.has_ended:
        parts.append(f"{seen.rate_turns_per_second:.1f} turns/s")
    if seen.seconds_left is not None and not sight.has_ended:
        parts.append(f"{timedelta(seconds=round(seen.seconds_left))} left")
    return ", ".join(parts)


def reasons(sight: Sight) -> Iterator[str]:
    """Say which bots failed, or are waited for, and why."""
    for each in sight.failures[:_REASONS_SHOWN]:
        verb = "failed" if each.state == "failed" else "wait"
        yield f"{each.conversations} {verb}, {each.bot or 'nobody'} to speak: {each.reason}"
    if len(sight.failures) > _REASONS_SHOWN:
        yield f"... and {len(sight.failures) - _REASONS_SHOWN} more reasons"


def _page(sight: Sight, *, most: int) -> RenderableType:
    states = [state for state in ConversationState if any(state in pair.conversations for pair in sight.pairs)]
    table = Table("Begins", "Answers", *(state.capitalize() for state in states), title=Text(sight.collection.name))
    shown = sorted(sight.pairs, key=_interest)[:most]
    for pair in sorted(shown, key=lambda pair: pair.number):
        counts = (str(pair.conversations.get(state, "")) for state in states)
        table.add_row(*map(Text, pair.participants), *counts)  # a name is no markup
    if len(sight.pairs) > len(shown):
        table.caption = f"and {len(sight.pairs) - len(shown)} more pairs"
    told = [Text(progress_line(sight)), *(Text(reason, style="yellow") for reason in reasons(sight))]
    return Group(table, *told)


def _interest(pair: PairOut) -> tuple[int, int]:
    """Rank what failed first, then what still runs, then the rest."""
    counts = pair.conversations
    failed, running = (counts.get(state, 0) for state in (ConversationState.FAILED, ConversationState.RUNNING))
    return (0 if failed else 1 if running else 2), pair.number
