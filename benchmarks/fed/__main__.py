"""`python -m benchmarks.fed [--only NAME ...]`: rows as a Markdown table; `--write` puts it into the README.

It needs torch and transformers, and of this project the folders `benchmarks`, `services` and `shared` alone:
`PYTHONPATH=.:services:shared python -m benchmarks.fed --only gpu` on a bare machine with a GPU.
"""

import argparse
import importlib
from pathlib import Path

from benchmarks.bots.measurement import Measurement
from benchmarks.tables import markdown_table, write_table

ROWS = ("released", "floor", "cache", "dialogue", "gpu")
_COLUMNS = ("Work", "Ours", "Compared with", "Result", "Goal", "Reached")


def main() -> None:
    """Measure the rows that were asked for, and print them as one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, metavar="NAME", help=", ".join(ROWS))
    parser.add_argument(
        "--threads", nargs="+", type=int, default=[1, 2], help="threads on the processor (default: 1 2)"
    )
    parser.add_argument("--tokens", nargs="+", type=int, default=[32, 128, 512], help="lengths of contexts")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    arguments = parser.parse_args()
    measurements: list[Measurement] = []
    for row in arguments.only:
        module = importlib.import_module(f"benchmarks.fed.{row}")
        measurements += module.measure(threads=arguments.threads, lengths=arguments.tokens)
    table = markdown_table(_COLUMNS, [each.cells() for each in measurements])
    print(table)  # noqa: T201 - the table is the output
    if arguments.write:
        write_table(Path(__file__).parent / "README.md", table)


if __name__ == "__main__":
    main()
