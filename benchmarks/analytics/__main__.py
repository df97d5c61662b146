"""`python -m benchmarks.analytics [NAME ...]`: rows as a Markdown table; `--write` puts it into the README."""

import argparse
import importlib
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.analytics.measurement import Measurement

ROWS = ("trueskill_bootstrap", "rank_ranges", "stability", "alpha_bootstrap", "interval_npmle", "campaign")
_README = Path(__file__).parent / "README.md"
_START, _END = "<!-- table -->", "<!-- end of table -->"


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
    table = _table(measurements)
    print(table)  # noqa: T201 - the table is the output
    if arguments.write:
        text = _README.read_text(encoding="utf-8")
        before, after = text.split(_START)[0], text.split(_END)[1]
        _README.write_text(f"{before}{_START}\n{table}\n{_END}{after}", encoding="utf-8")


def _table(measurements: list[Measurement]) -> str:
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {machine}.",
        "",
        "| Work | Ours | Rival | Rival's time | Ratio | Agreement | Goal | Reached |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in measurements:
        rival = "-" if each.rival_seconds is None else f"{each.rival_seconds:,.1f} s"
        scaled = f" ({each.scaled})" if each.scaled else ""
        ratio = "-" if each.ratio is None else f"{each.ratio:,.0f}x"
        cells = [
            each.work,
            f"{each.seconds:.3g} s",
            each.rival,
            rival + scaled,
            ratio,
            each.agreement,
            each.goal,
            "yes" if each.reached else "**no**",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
