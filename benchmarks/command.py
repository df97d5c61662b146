"""The command line of benchmarks whose rows are modules.

Such a module has `measure()`, which returns or yields its measurements; `TOY`, constants of the module that make a
quick run of it, whose figures mean nothing; and `missing()` if it needs more than Python packages.
"""

import argparse
import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from unittest import mock

from benchmarks.tables import table_head, table_row, write_table

COLUMNS = ("Work", "Ours", "Compared with", "Result", "Goal", "Reached")
_OWN_OPTIONS = frozenset({"only", "write", "toy"})


class Measured(Protocol):
    """One row of a table."""

    def cells(self) -> list[str]:
        """Return the cells of the table's row."""


def run(
    package: str,
    rows: Sequence[str],
    *,
    columns: Sequence[str] = COLUMNS,
    add_options: Callable[[argparse.ArgumentParser], None] | None = None,
    toy_options: Mapping[str, Any] | None = None,
) -> None:
    """Measure the rows of a package that were asked for, and print each as soon as it is there.

    What `add_options` adds to the command line is passed on to every `measure()`. Exits with 2 before the first row if
    something is missing, and with 1 after the last one if a row failed.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {package}")
    parser.add_argument("--only", nargs="+", choices=rows, default=rows, metavar="NAME", help=", ".join(rows))
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    parser.add_argument("--toy", action="store_true", help="small sizes, to see that all rows still run")
    if add_options is not None:
        add_options(parser)
    arguments = parser.parse_args()
    if arguments.write and arguments.toy:
        parser.error("--write is for real sizes: figures of --toy mean nothing")
    options = {name: value for name, value in vars(arguments).items() if name not in _OWN_OPTIONS}
    options |= toy_options or {} if arguments.toy else {}
    if find_spec("structlog") is not None:  # a bare machine with a GPU has none
        from spotthebot.kit.telemetry.logs import configure_logs  # noqa: PLC0415 - as above

        configure_logs("benchmarks", "WARNING")
    modules = _import_all(package, arguments.only)
    table, failed = [table_head(columns)], False
    _print(table[0])
    for name, module in modules.items():
        try:
            with toy_sizes(module) if arguments.toy else contextlib.nullcontext():
                measured: Iterable[Measured] = module.measure(**options)
                for each in measured:
                    table.append(table_row(each.cells()))
                    _print(table[-1])
        except Exception as error:  # noqa: BLE001 - a row that fails costs no other row
            failed = True
            reason = " ".join(f"failed: {type(error).__name__}: {error}".split())
            _print(table_row([name, reason, *["-"] * (len(columns) - 2)]))
    if arguments.write and not failed:
        write_table(Path(__file__).parent.joinpath(*package.split(".")[1:], "README.md"), "\n".join(table))
    if failed:
        sys.exit("A row failed: nothing was written.")


@contextlib.contextmanager
def toy_sizes(module: ModuleType) -> Iterator[None]:
    """Give a module, and the module `running` of its package if there is one, their toy sizes while the block lasts."""
    running = sys.modules.get(f"{module.__name__.rpartition('.')[0]}.running")
    with contextlib.ExitStack() as stack:
        for each in (module, running):
            for name, value in getattr(each, "TOY", {}).items():
                stack.enter_context(mock.patch.object(each, name, value))
        yield


def _import_all(package: str, rows: Sequence[str]) -> dict[str, ModuleType]:
    """Import the rows; where one lacks something, say what and exit before anything is measured."""
    found, lacking = {}, []
    for row in rows:
        try:
            found[row] = importlib.import_module(f"{package}.{row}")
            missing = getattr(found[row], "missing", lambda: None)()
        except ModuleNotFoundError as error:
            missing = f"the module {error.name}, which ./stb test installs"
        if missing is not None:
            lacking.append(f"{row} needs {missing}")
    if lacking:
        print(*lacking, "Nothing was measured. --only measures the other rows.", sep="\n", file=sys.stderr)  # noqa: T201 - its refusal
        sys.exit(2)
    return found


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the table is the output
