"""How often nominal 95 % intervals hold the truth, and 5 % tests are wrong, where annotations are not independent.

`python -m benchmarks.analytics.coverage [--simulations N] [--group G] [--cells] [--json FILE]`: campaigns are drawn
whose truth is known, with conversations and annotators that differ, and the shares are counted in every cell: 2, 4 and
10 bots, 15 and 45 conversations a pair, 6 to 40 annotators, no to strong correlation within annotators, with and
without their taste. With `--json` each cell is kept in the file as soon as it is counted, and a run that was
interrupted goes on.
"""

import argparse
import json
import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import astuple
from pathlib import Path

from benchmarks.analytics.coverage import labels, quality, ratings, survival
from benchmarks.analytics.coverage.tallies import FALSE, Tallies
from tests.factories.clustered_campaigns import SETTINGS, Setting

GROUPS = {
    "coefficients": quality.tally_coefficients,
    "labels": labels.tally,
    "quality": quality.tally,
    "ratings": ratings.tally,
    "survival": survival.tally,
}


def main() -> None:
    """Print a table of the worst cells of each kind, and with `--cells` every cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    parser.add_argument("--group", choices=sorted(GROUPS), action="append", help="only these kinds")
    parser.add_argument("--bots", type=int, choices=sorted({each.k for each in SETTINGS}), action="append")
    parser.add_argument("--cells", action="store_true", help="print every cell, too")
    parser.add_argument("--json", type=Path, help="keep the cells in this file, and continue from it")
    arguments = parser.parse_args()
    settings = [each for each in SETTINGS if not arguments.bots or each.k in arguments.bots]
    groups = arguments.group or sorted(GROUPS)
    tasks = [(setting, group, arguments.simulations) for group in groups for setting in settings]
    counted = _read(arguments.json)
    pending = [task for task in tasks if _name(*task) not in counted]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(count_cell, task): task for task in pending}
        for done in as_completed(running):
            counted[_name(*running[done])] = done.result()
            _write(arguments.json, counted)
            left = sum(_name(*task) not in counted for task in tasks)
            print(f"{len(tasks) - left} of {len(tasks)} cells", file=sys.stderr)  # noqa: T201 - the progress
    found: dict[str, dict[Setting, float]] = defaultdict(dict)
    for task in tasks:
        for kind, share in counted[_name(*task)].items():
            found[kind][task[0]] = share
    _print(found, arguments.simulations, cells=arguments.cells)


def _name(setting: Setting, group: str, simulations: int) -> str:
    return " ".join(map(str, [group, simulations, *astuple(setting)]))


def _read(file: Path | None) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    return found


def _write(file: Path | None, counted: dict[str, dict[str, float]]) -> None:
    if file is not None:
        partial = file.with_name(f"{file.name}.partial")
        partial.write_text(json.dumps(counted, indent=1) + "\n", encoding="utf-8")
        partial.replace(file)


def count_cell(task: tuple[Setting, str, int]) -> dict[str, float]:
    """Return the shares of one cell by kind: of intervals that hold the truth, and of false claims."""
    setting, group, simulations = task
    held: dict[str, int] = defaultdict(int)
    counted: dict[str, int] = defaultdict(int)
    for seed in range(simulations):
        tallies: Tallies = GROUPS[group](setting, seed)
        for kind, (holds, of) in tallies.items():
            held[kind] += holds
            counted[kind] += of
    return {kind: held[kind] / counted[kind] for kind in held if counted[kind]}


def _print(found: dict[str, dict[Setting, float]], simulations: int, *, cells: bool) -> None:
    lines = ["| Kind | Promise | Lowest | Highest | Cells | Cells that keep it |", "|---|---|---|---|---|---|"]
    for kind, shares in found.items():
        low, high = (0.0, 0.05) if FALSE in kind else (0.95, 1.0) if "at once" in kind else (0.93, 0.98)
        # Two standard errors of the simulation itself.
        slack = 2 * (0.05 * 0.95 / simulations) ** 0.5
        kept = sum(low - slack <= share <= high + slack for share in shares.values())
        promise = "at most 5 %" if FALSE in kind else "at least 95 %" if "at once" in kind else "93 to 98 %"
        least, most = min(shares.values()), max(shares.values())
        lines.append(f"| {kind} | {promise} | {least:.1%} | {most:.1%} | {len(shares)} | {kept} |")
    if cells:
        lines += ["", *_every_cell(found)]
    print("\n".join(lines))  # noqa: T201 - the table is the output


def _every_cell(found: dict[str, dict[Setting, float]]) -> list[str]:
    kinds = list(found)
    columns = ["Bots", "Per pair", "Annotators", "ICC", "Taste", *kinds]
    lines = [f"| {' | '.join(columns)} |", f"{'|---' * len(columns)}|"]
    for setting in sorted({each for shares in found.values() for each in shares}, key=SETTINGS.index):
        shown = [f"{found[kind][setting]:.1%}" if setting in found[kind] else "-" for kind in kinds]
        taste = "yes" if setting.taste else "no"
        head = [setting.k, setting.per_pair, setting.annotators, f"{setting.correlation:g}", taste]
        lines.append(f"| {' | '.join(map(str, [*head, *shown]))} |")
    return lines


if __name__ == "__main__":
    main()
