"""Progress of long jobs: bars on a terminal, a line for each step elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    # pydantic's models take a tenth of a second.
    from spotthebot.contracts.analytics.provenance import AnnotatorCounts
    from spotthebot.contracts.repeated_texts import RepeatedTexts

screen = Console(stderr=True)
"""The output for people; standard output is for results."""
SAYS_NOTHING: Final = "what they say tells nothing of people."
_PIECE_BYTES = 256 * 1024
_PAIRS_SAID = 5


def say(line: str) -> None:
    """Print a line on the terminal, without interpreting markup in it."""
    screen.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def only_errors(*, quiet: bool) -> Iterator[None]:
    """Print nothing on the screen during the block if `quiet`; an error is printed after it."""
    screen.quiet = quiet
    try:
        yield
    finally:
        screen.quiet = False


def say_programs(counts: "AnnotatorCounts") -> None:
    """Warn of annotators that are programs."""
    if counts.programs:
        say(f"{counts.program_words}: {SAYS_NOTHING}")


def say_repeated_texts(pairs: "Sequence[RepeatedTexts]") -> None:
    """Warn of speakers with repeated texts in their conversations."""
    for each in pairs[:_PAIRS_SAID]:
        say(f"Warning: {each.sentence}")
    if len(pairs) > _PAIRS_SAID:
        say(f"Warning: so do conversations of {len(pairs) - _PAIRS_SAID} more pairs.")


def say_unranked(bots: Sequence[tuple[str, int | None, str | None]]) -> None:
    """Print which bots have no rank; `bots` are names with their best ranks and the reasons for missing ranks."""
    for name, rank, why in bots:
        if rank is None and why is not None:
            say(f"No rank for {name}: {why}.")


@dataclass(frozen=True)
class Step:
    """The bar of one part of a job."""

    _progress: Progress
    _task: TaskID

    def at(self, done: int, total: int | None = None) -> None:
        """Show how much of this part is done."""
        self._progress.update(self._task, completed=done, total=total)

    def advance(self, by: int = 1) -> None:
        self._progress.advance(self._task, by)

    def read(self, file: Path) -> Iterator[bytes]:
        """Yield the bytes of a file piece by piece and count them as done; may run in another thread."""
        with file.open("rb") as opened:
            while piece := opened.read(_PIECE_BYTES):
                yield piece
                self.advance(len(piece))


@dataclass(frozen=True)
class Steps:
    """The bars of one job, one below the other."""

    _progress: Progress

    @contextmanager
    def step(self, what: str, total: int | None = None) -> Iterator[Step]:
        """Show a bar during a part of the job; without a terminal, print a line when the part is done."""
        task = self._progress.add_task(what, total=total)
        yield Step(self._progress, task)
        shown = self._progress.tasks[self._progress.task_ids.index(task)]
        self._progress.update(task, completed=shown.total or 1, total=shown.total or 1)
        if not sys.stderr.isatty():
            screen.print(f"{what}: done ({shown.finished_time or shown.elapsed or 0:.1f} s)", highlight=False)


@contextmanager
def showing_progress() -> Iterator[Steps]:
    """Show bars on standard error, if it is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, disable=not sys.stderr.isatty()) as progress:
        yield Steps(progress)
