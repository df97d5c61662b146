"""How well a judge's corrections hold, in every cell of judges, annotators and intraclass correlations.

`python -m benchmarks.analytics.judges [--simulations N] [--processes P] [--annotators A] [--rivals] [--cells]
[--json FILE]`. With `--json` each group of cells is kept in the file as soon as it is counted, and a run that was
interrupted goes on.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.analytics.judges.campaigns import ANNOTATORS, GRID, Setting
from benchmarks.analytics.judges.cells import KINDS, count_cell
from benchmarks.analytics.judges.judges import JUDGES
from benchmarks.analytics.judges.rivals import RIVALS, installed

Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""The figures of a setting, by judge and by kind or rival."""
_COVERAGE = (0.93, 0.98)
_PEOPLE = "people's coverage"
_ERRORS = 2.5
"""The standard errors of the simulation by which a share may miss its goal."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the worst cell of each judge and kind, with `--cells` every cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.judges")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--annotators", type=int, choices=ANNOTATORS, action="append")
    parser.add_argument("--rivals", action="store_true", help="measure the other tools that are installed, too")
    parser.add_argument("--cells", action="store_true", help="print every cell, too")
    parser.add_argument("--json", type=Path, help="keep the figures in this file, and continue from it")
    chosen = parser.parse_args(arguments)
    settings = [each for each in GRID if not chosen.annotators or each.annotators in chosen.annotators]
    rivals = installed() if chosen.rivals else []
    file: Path | None = chosen.json
    counted: dict[str, Figures] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    pending = [each for each in settings if _name(each, chosen.simulations) not in counted]
    with ProcessPoolExecutor(chosen.processes) as pool:
        running = {pool.submit(figures_of, each, chosen.simulations, rivals): each for each in pending}
        for done in as_completed(running):
            counted[_name(running[done], chosen.simulations)] = done.result()
            if file is not None:
                file.write_text(json.dumps(counted, indent=1) + "\n", encoding="utf-8")
            print(f"{running[done]} counted", file=sys.stderr)  # noqa: T201 - the progress
    found = {each: counted[_name(each, chosen.simulations)] for each in settings}
    print("\n".join(summary(found, chosen.simulations)))  # noqa: T201 - the table is the output
    if chosen.cells:
        print("\n".join(["", *every_cell(found)]))  # noqa: T201 - as above


def figures_of(setting: Setting, simulations: int, rivals: Sequence[str]) -> Figures:
    """Return the figures of one setting."""
    tallies = count_cell(setting, range(simulations), rivals)
    return {judge: {kind: tally.figures() for kind, tally in kinds.items()} for judge, kinds in tallies.items()}


def missed(figures: Mapping[str, float], simulations: int) -> list[str]:
    """Return the goals that a cell misses, with the simulation's error of shares as the tolerance."""
    low, high = _COVERAGE
    slack = [_ERRORS * (share * (1 - share) / simulations) ** 0.5 for share in (low, high, 0.05)]
    goals = {
        "coverage": low - slack[0] <= figures["coverage"] <= high + slack[1],
        "rmse": figures["rmse"] <= 1.01,
        "widest": figures["widest"] <= 1.02,
        "false": figures.get("false", 0.0) <= 0.05 + slack[2],
        "saved": figures["saved, holds"] >= low - slack[0],
    }
    return [goal for goal, kept in goals.items() if not kept]


def summary(found: Mapping[Setting, Figures], simulations: int) -> list[str]:
    """Return the lines of a table with the range of each judge and kind over all settings."""
    lines = [
        (
            "| Judge | Kind | Coverage, % | People's | RMSE / people's | Widest / people's | Mean width |"
            " False ranks, % | Labels saved, % (true) | Its interval holds, % | Goals missed |"
        ),
        f"{'|---' * 11}|",
    ]
    for judge in JUDGES:
        for kind in KINDS:
            cells = [figures[judge][kind] for figures in found.values()]
            wrong = sum(bool(missed(cell, simulations)) for cell in cells)
            false = f"{_range(cells, 'false', 100)}" if "false" in cells[0] else "-"
            lines.append(
                f"| {judge} | {kind} | {_range(cells, 'coverage', 100)} | {_range(cells, _PEOPLE, 100)}"
                f" | {_range(cells, 'rmse', 1, 3)} | {max(cell['widest'] for cell in cells):.3f}"
                f" | {_range(cells, 'width', 1, 3)} | {false} | {_range(cells, 'saved', 100)}"
                f" | {_range(cells, 'saved, holds', 100)} | {wrong} of {len(cells)} |"
            )
    rivals = [name for name in RIVALS if all(name in kinds for each in found.values() for kinds in each.values())]
    if rivals:
        lines += ["", *_rival_lines(found, rivals)]
    return lines


def every_cell(found: Mapping[Setting, Figures]) -> list[str]:
    """Return the lines of a table of all cells."""
    lines = [
        (
            "| Annotators | ICC | Judge | Kind | Coverage, % | People's | RMSE | Widest | False, % | Saved, % (true) |"
            " estimated | holds, % |"
        ),
        f"{'|---' * 12}|",
    ]
    for setting, judges in found.items():
        for judge, kinds in judges.items():
            for kind in KINDS:
                cell = kinds[kind]
                false = f"{100 * cell['false']:.1f}" if "false" in cell else "-"
                people = cell[_PEOPLE]
                lines.append(
                    f"| {setting.annotators} | {setting.correlation:g} | {judge} | {kind}"
                    f" | {100 * cell['coverage']:.1f}"
                    f" | {100 * people:.1f} | {cell['rmse']:.3f} | {cell['widest']:.3f} | {false}"
                    f" | {100 * cell['saved']:.1f} | {100 * cell['saved, estimate']:.1f}"
                    f" | {100 * cell['saved, holds']:.1f} |"
                )
    return lines


def _rival_lines(found: Mapping[Setting, Figures], rivals: Sequence[str]) -> list[str]:
    names = ["corrected", *rivals]
    lines = [
        "| Annotators, ICC, judge | " + " | ".join(f"{name}: coverage, % (RMSE)" for name in names) + " |",
        f"{'|---' * (len(names) + 1)}|",
    ]
    for setting, judges in found.items():
        for judge, kinds in judges.items():
            cells = [kinds["fooling"], *(kinds[name] for name in rivals)]
            shown = [f"{100 * cell['coverage']:.1f} ({cell['rmse']:.3f})" for cell in cells]
            lines.append(f"| {setting.annotators}, {setting.correlation:g}, {judge} | {' | '.join(shown)} |")
    return lines


def _range(cells: Sequence[Mapping[str, float]], name: str, scale: float, digits: int = 1) -> str:
    values = [scale * cell[name] for cell in cells]
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def _name(setting: Setting, simulations: int) -> str:
    return f"{setting.annotators} {setting.correlation:g} {simulations}"


if __name__ == "__main__":
    main()
