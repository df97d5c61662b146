"""`python -m benchmarks.analytics [NAME ...]`: rows as a Markdown table; `--write` puts it into the README."""

import argparse
import importlib
from pathlib import Path

from benchmarks.analytics.measurement import Measurement
from benchmarks.tables import markdown_table, write_table

ROWS = ("trueskill_bootstrap", "rank_ranges", "stability", "alpha_bootstrap", "interval_npmle", "campaign")
_COLUMNS = ("Work", "Ours", "Rival", "Rival's time", "Ratio", "Agreement", "Goal", "Reached")


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics")
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="rows to measure; all by default")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    arguments = parser.parse_args()
    measurements = [
        measurement
        for row in arguments.rows or ROWS
        for measurement in importlib.import_module(f"benchmarks.analytics.{row}").measure()
    ]
    table = markdown_table(_COLUMNS, [_cells(each) for each in measurements])
    print(table)  # noqa: T201 - the table is the output
    if arguments.write:
        write_table(Path(__file__).parent / "README.md", table)


def _cells(measured: Measurement) -> list[str]:
    rival = "-" if measured.rival_seconds is None else f"{measured.rival_seconds:,.1f} s"
    scaled = f" ({measured.scaled})" if measured.scaled else ""
    return [
        measured.work,
        f"{measured.seconds:.3g} s",
        measured.rival,
        rival + scaled,
        "-" if measured.ratio is None else f"{measured.ratio:,.0f}x",
        measured.agreement,
        measured.goal,
        "yes" if measured.reached else "**no**",
    ]


if __name__ == "__main__":
    main()
