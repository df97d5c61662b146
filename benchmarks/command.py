"""The command line of benchmarks whose rows are modules, each with a `measure()`."""

import argparse
import importlib
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bots.measurement import Measurement
from benchmarks.tables import markdown_table, write_table
from spotthebot.kit.logs import configure_logs

_COLUMNS = ("Work", "Ours", "Compared with", "Result", "Goal", "Reached")


def run(package: str, rows: Sequence[str]) -> None:
    """Measure the rows of a package that were asked for, and print them as one table."""
    parser = argparse.ArgumentParser(prog=f"python -m {package}")
    parser.add_argument("--only", nargs="+", choices=rows, default=rows, metavar="NAME", help=", ".join(rows))
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    arguments = parser.parse_args()
    configure_logs("benchmarks", "WARNING")
    measurements: list[Measurement] = []
    for row in arguments.only:
        measurements += importlib.import_module(f"{package}.{row}").measure()
    table = markdown_table(_COLUMNS, [each.cells() for each in measurements])
    print(table)  # noqa: T201 - the table is the output
    if arguments.write:
        write_table(Path(__file__).parent.joinpath(*package.split(".")[1:], "README.md"), table)
