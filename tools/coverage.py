"""Branch coverage of each service and each shared package by the tests."""

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


def remove_report(root: Path) -> None:
    """Remove the report of an earlier run, which would else be printed where pytest writes none."""
    (root / _REPORT).unlink(missing_ok=True)


def print_coverage(root: Path) -> None:
    """Print a line for each package from the report that pytest wrote in `root`; nothing where it could not start."""
    if not (root / _REPORT).exists():
        return
    table = Table("Package", "Statements", "Branches", "Covered", title="Branch coverage")
    for package, counts in sorted(read_packages(root / _REPORT).items()):
        statements, branches, covered = counts
        table.add_row(package, str(statements), str(branches), f"{covered:.1%}")
    Console().print(table)


def read_packages(report: Path) -> dict[str, tuple[int, int, float]]:
    """Return statements, branches and the covered share of both together, of each service and shared package."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for file, measured in json.loads(report.read_text())["files"].items():
        summary = measured["summary"]
        total = totals[_package_of(Path(file))]
        total[0] += summary["num_statements"]
        total[1] += summary["num_branches"]
        total[2] += summary["covered_lines"] + summary["covered_branches"]
    return {
        package: (statements, branches, covered / (statements + branches or 1))
        for package, (statements, branches, covered) in totals.items()
    }


def _package_of(file: Path) -> str:
    parts = file.parts
    return "/".join(parts[parts.index("spotthebot") - 1 :][:3:2])
