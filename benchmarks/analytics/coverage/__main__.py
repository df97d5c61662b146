"""How often nominal 95 % intervals hold the truth, and 5 % tests are wrong, where annotations are not independent.

`python -m benchmarks.analytics.coverage [--simulations N] [--group G] [--cells]`: campaigns are drawn whose truth is
known, with conversations and annotators that differ, and the shares are counted in every cell: 2, 4 and 10 bots, 15 and
45 conversations a pair, 6 to 40 annotators, no to strong correlation within annotators, with and without their taste.
"""

import argparse
import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

from benchmarks.analytics.coverage import labels, quality, survival
from benchmarks.analytics.coverage.tallies import FALSE, Tallies
from tests.factories.clustered_campaigns import SETTINGS, Setting

GROUPS = {"labels": labels.tally, "quality": quality.tally, "survival": survival.tally}


def main() -> None:
    """Print a table of the worst cells of each kind, and with `--cells` every cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    parser.add_argument("--group", choices=sorted(GROUPS), action="append", help="only these kinds")
    parser.add_argument("--bots", type=int, choices=sorted({each.k for each in SETTINGS}), action="append")
    parser.add_argument("--cells", action="store_true", help="print every cell, too")
    arguments = parser.parse_args()
    settings = [each for each in SETTINGS if not arguments.bots or each.k in arguments.bots]
    groups = arguments.group or sorted(GROUPS)
    tasks = [(setting, group, arguments.simulations) for group in groups for setting in settings]
    found: dict[str, dict[Setting, float]] = defaultdict(dict)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (setting, _, _), shares in zip(tasks, pool.map(_cell, tasks), strict=True):
            for kind, share in shares.items():
                found[kind][setting] = share
    _print(found, arguments.simulations, cells=arguments.cells)


def _cell(task: tuple[Setting, str, int]) -> dict[str, float]:
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
