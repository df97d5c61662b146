"""`stb logs`: prints the logs of services and workers as text, ordered by time."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.log_lines import entry_of, is_at_least, readable
from spotthebot.cli.commands.options import DataDir, suite_at
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.postgres.home import LOG_NAME
from spotthebot.local.progress import say
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder

_POSTGRES = "postgres"
_NAMES = (*SERVICE_NAMES, "supervisor", _POSTGRES)
_LOOK_EVERY_SECONDS = 0.2
_TAIL_BYTES = 1024 * 1024
_PRINTED = "suite"
"""The log with the text that `up --detach` prints: no line of it has a level."""
_FAULTS = ("Error", "Warning", "Traceback")


@on_this_machine
def logs(
    service: Annotated[
        str | None,
        typer.Argument(help="A service, its worker included; supervisor; postgres. None: all but postgres."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new lines until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="Lines of the past to begin with.")] = 100,
    level: Annotated[
        Literal["info", "warning", "error"], typer.Option(help="Show lines of this level and above, and tracebacks.")
    ] = "info",
    raw: Annotated[bool, typer.Option("--raw", help="Print lines as they are written: JSON.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Show the logs of services and workers."""
    if service not in {None, *_NAMES}:
        message = f"there is no service {service}: choose among {', '.join(_NAMES)}"
        raise typer.BadParameter(message, param_hint="SERVICE")
    folder = suite_at(data_dir)
    shape = _as_written if raw else _for_people
    files = _log_files(folder, service)
    ends = {file: file.stat().st_size for file in files}
    timed = (each for file in files for each in _timed_lines(file, ends[file]))
    past = sorted(each for each in timed if _is_at_least(each[1], each[-1], level))
    for _, name, _, line in past[len(past) - min(lines, len(past)) :]:
        typer.echo(shape(name, line))
    if not past:
        say(f"Nothing was logged at the level {level} or above.")
    if follow:
        for name, line in _new_lines(lambda: _log_files(folder, service), ends):
            if _is_at_least(name, line, level):
                typer.echo(shape(name, line))


def _is_at_least(name: str, line: str, level: str) -> bool:
    if name == _PRINTED and level != "info":
        return any(fault in line for fault in _FAULTS)
    return is_at_least(line, level)


def _log_files(folder: DataFolder, service: str | None) -> list[Path]:
    if service == _POSTGRES:
        return [file for file in [folder.path / LOG_NAME] if file.exists()]
    names = None if service is None else {service, f"{service}-worker"}
    return sorted(file for file in folder.logs.glob("*.log") if names is None or file.stem in names)


def _tail(file: Path, end: int) -> list[str]:
    """Return the lines in the last mebibyte of a file, without a first line that may be incomplete."""
    with file.open("rb") as opened:
        opened.seek(max(0, end - _TAIL_BYTES))
        lines = _lines_of(opened.read(end - opened.tell()))
    return lines[1:] if end > _TAIL_BYTES else lines


def _new_lines(files: Callable[[], list[Path]], ends: dict[Path, int]) -> Iterator[tuple[str, str]]:
    """Yield complete lines that are added after the positions `ends`, without end. New files are included."""
    while True:
        for file in files():
            begin = ends.get(file, 0)
            if file.stat().st_size < begin:  # it is full, and another took its place
                begin = 0
            with file.open("rb") as opened:
                opened.seek(begin)
                whole, newline, _ = opened.read().rpartition(b"\n")
            ends[file] = begin + len(whole) + len(newline)
            for line in _lines_of(whole):
                yield file.stem, line
        time.sleep(_LOOK_EVERY_SECONDS)


def _lines_of(written: bytes) -> list[str]:
    """Split bytes into lines at line feeds only, because texts may contain other line ends of Unicode."""
    return [line.decode(errors="replace") for line in written.removesuffix(b"\n").split(b"\n")] if written else []


def _timed_lines(file: Path, end: int) -> Iterator[tuple[str, str, int, str]]:
    """Yield the time, service, number and text of each line. A line without a time gets the time of the line before."""
    time_of_line = ""
    for number, line in enumerate(_tail(file, end)):
        time_of_line = _time_of(line) or time_of_line
        yield time_of_line, file.stem, number, line


def _time_of(line: str) -> str:
    """Return the time of a log line, as text that can be sorted; "" for a line without a time."""
    return str(entry_of(line).get("timestamp", ""))


def _for_people(name: str, line: str) -> str:
    return f"{name:>20} | {readable(line)}"


def _as_written(_name: str, line: str) -> str:
    return line
