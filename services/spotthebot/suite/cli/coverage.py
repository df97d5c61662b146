"""Branch coverage by room: how much of each service and of each shared part the tests reach."""

import json
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

_REPORT = "coverage.json"
COVERAGE_OPTIONS = (
    "--cov=spotthebot",
    "--cov-branch",
    f"--cov-report=json:{_REPORT}",
)


def print_coverage(root: Path) -> None:
    """Print a line for each room from the report that pytest wrote in `root`."""
    table = Table("Room", "Statements", "Branches", "Covered", title="Branch coverage")
    for room, counts in sorted(read_rooms(root / _REPORT).items()):
        statements, branches, covered = counts
        table.add_row(room, str(statements), str(branches), f"{covered:.1%}")
    Console().print(table)


def read_rooms(report: Path) -> dict[str, tuple[int, int, float]]:
    """Return statements, branches and the covered share of both together, by room."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for file, measured in json.loads(report.read_text())["files"].items():
        summary = measured["summary"]
        room = totals[_room_of(Path(file))]
        room[0] += summary["num_statements"]
        room[1] += summary["num_branches"]
        room[2] += summary["covered_lines"] + summary["covered_branches"]
    return {
        room: (statements, branches, covered / (statements + branches or 1))
        for room, (statements, branches, covered) in totals.items()
    }


def _room_of(file: Path) -> str:
    parts = file.parts
    return "/".join(parts[parts.index("spotthebot") - 1 :][:3:2])
