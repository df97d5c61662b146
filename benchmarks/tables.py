"""What the tables of all benchmarks share: the machine they were measured on, and their place in a README."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

_START, _END = "<!-- table -->", "<!-- end of table -->"


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str]], *, note: str = "") -> str:
    """Return a Markdown table below a line that says when and on what it was measured; `note` ends that line."""
    return "\n".join([table_head(names, note=note), *map(table_row, rows)])


def table_head(names: Sequence[str], *, note: str = "") -> str:
    """Return all lines of a Markdown table that come before its rows."""
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    measured = " ".join(filter(None, [f"Measured on {datetime.now(UTC):%Y-%m-%d}: {machine}.", note]))
    return "\n".join([measured, "", table_row(names), "|" + "---|" * len(names)])


def table_row(cells: Sequence[str]) -> str:
    """Return one line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def write_table(readme: Path, table: str) -> None:
    """Put a table in the place of the one that the README holds between its two marks."""
    text = readme.read_text(encoding="utf-8")
    before, after = text.split(_START)[0], text.split(_END)[1]
    readme.write_text(f"{before}{_START}\n{table}\n{_END}{after}", encoding="utf-8")


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()
