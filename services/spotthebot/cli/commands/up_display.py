"""Shows the running suite.

A terminal gets a table that is redrawn at each change, other outputs a line for each event.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from spotthebot.kit.processes.spec import Event

_LATEST: Final = 5
_STYLES: Final = {"running": "green", "waiting": "dim", "stopped": "dim"}


@dataclass
class _Process:
    state: str = "waiting"
    starts: int = 0

    @property
    def restarts(self) -> int:
        return max(0, self.starts - 1)


class SuiteDisplay:
    """Shows the processes of a suite with their states, and the latest events."""

    def __init__(self, console: Console, processes: Sequence[str], addresses: Mapping[str, str]) -> None:
        self._console = console
        self._processes = {name: _Process() for name in processes}
        self._addresses = addresses
        self._latest: deque[tuple[datetime, str]] = deque(maxlen=_LATEST)
        self._title = "The suite starts"
        self._notes: Sequence[str] = ()
        self._draw: Callable[[], object] = lambda: None

    def take(self, event: Event) -> None:
        """Show an event of a process."""
        process = self._processes.setdefault(event.name, _Process())
        process.starts += event.kind == "started"
        process.state = _state(event)
        sentence = self._sentence(event, process)
        if sentence and (process.restarts or event.kind != "ready" or not self._console.is_terminal):
            self.say(sentence)  # the table says of the first start all that there is to say
        self._draw()

    def say(self, sentence: str) -> None:
        """Show a sentence about an event: on a terminal among the latest events, otherwise as a line."""
        if self._console.is_terminal:
            self._latest.append((datetime.now().astimezone(), sentence))
            self._draw()
        else:
            self._print(sentence)

    def is_up(self, notes: Sequence[str]) -> None:
        """Show that all processes run, and the sentences `notes`."""
        self._title, self._notes = "The suite is up (Ctrl-C stops it)", notes
        self._draw()
        if not self._console.is_terminal:
            for line in ("The suite is up.", *notes):
                self._print(line)

    def ends(self) -> None:
        """Show that the suite is stopping."""
        self._title, self._notes = "The suite stops", ()
        self._draw()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the table during the block, if the output is a terminal."""
        if not self._console.is_terminal:
            yield
            return
        with Live(self.drawn(), console=self._console, auto_refresh=False, transient=True) as live:
            self._draw = lambda: live.update(self.drawn(), refresh=True)
            yield
            self._draw = lambda: None

    def drawn(self) -> RenderableType:
        """Return the table, with the notes and the latest events below it."""
        table = Table("Process", "State", "Restarts", "Address", title=self._title)
        for name, process in self._processes.items():
            state = Text(process.state, style=_STYLES.get(process.state, "yellow"))
            table.add_row(name, state, str(process.restarts or ""), self._addresses.get(name, ""))
        latest = [Text(f"{time:%H:%M:%S} {sentence}", style="yellow") for time, sentence in self._latest]
        return Group(table, *map(Text, self._notes), *latest)

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _sentence(self, event: Event, process: _Process) -> str | None:
        match event.kind:
            case "ready":
                again = f" again (restarts: {process.restarts})" if process.restarts else ""
                address = self._addresses.get(event.name)
                return f"{event.name} runs{again}{f': {address}' if address else ''}."
            case "hung":
                return f"{event.name} does not answer: it is killed and started again."
            case "died":
                code = "" if event.exit_code is None else f" (exit code {event.exit_code})"
                return f"{event.name} died{code}: it is started again{_in(event.delay_seconds)}."
        return None


def _state(event: Event) -> str:
    match event.kind:
        case "started":
            return "starting"
        case "ready":
            return "running"
        case "hung":
            return "does not answer, is killed"
        case "died":
            return f"died, is started again{_in(event.delay_seconds)}"
        case "stopped":
            return "stopped"


def _in(seconds: float | None) -> str:
    return "" if seconds is None else f" in {seconds:.1f} s"
