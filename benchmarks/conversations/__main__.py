"""`python -m benchmarks.conversations [--only NAME ...]`: a Markdown table; `--write` puts it into the README."""

import argparse
import importlib
from pathlib import Path

from benchmarks.bots.measurement import Measurement
from benchmarks.tables import markdown_table, write_table
from spotthebot.kit.logs import configure_logs

ROWS = ("instant", "waiting", "workers", "memory", "scale")
_COLUMNS = ("Work", "Ours", "Compared with", "Result", "Goal", "Reached")


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conversations")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, metavar="NAME", help=", ".join(ROWS))
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    arguments = parser.parse_args()
    configure_logs("benchmarks", "WARNING")
    measurements: list[Measurement] = []
    for row in arguments.only:
        measurements += importlib.import_module(f"benchmarks.conversations.{row}").measure()
    table = markdown_table(_COLUMNS, [each.cells() for each in measurements])
    print(table)  # noqa: T201 - the table is the output
    if arguments.write:
        write_table(Path(__file__).parent / "README.md", table)


if __name__ == "__main__":
    main()
