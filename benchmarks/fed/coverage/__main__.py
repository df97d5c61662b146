"""`python -m benchmarks.fed.coverage [--only dialogues|annotators] [--simulations N] [--processes N]`.

Prints, cell by cell, how often nominal 95 % intervals of FED's statistics hold the truth; a cell whose intervals are
withheld has a dash. `dialogues`: correlations with ratings of unnamed annotators, 10 to 125 dialogues; `annotators`:
those with annotators who rate many dialogues and differ; `bots`: mean scores and ranks of bots.
"""

import argparse
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.fed.coverage import annotators, dialogues
from benchmarks.fed.coverage.cells import Cell
from benchmarks.tables import markdown_table

TABLES = {"dialogues": dialogues, "annotators": annotators}


def count_intervals(task: tuple[Cell, int]) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return what a cell is, and the share of its intervals that hold the truth, of those that are printed."""
    cell, simulations = task
    truth = cell.truth()
    held, printed = Counter[str](), Counter[str]()
    for seed in range(simulations):
        for kind, low, high, true in cell.intervals(np.random.default_rng([seed, 2]), truth):
            if low is not None and high is not None:
                printed[kind] += 1
                held[kind] += low <= true <= high
    return cell.columns, {kind: held[kind] / printed[kind] for kind in printed}


def main() -> None:
    """Print the shares of each cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.coverage")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=[*TABLES], help="tables to print")
    parser.add_argument("--simulations", type=int, default=400, help="samples a cell")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes at once")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        for table in (TABLES[name] for name in arguments.only):
            rows = [
                [*columns, *(f"{shares[kind]:.1%}" if kind in shares else "-" for kind in table.KINDS)]
                for columns, shares in pool.map(
                    count_intervals, [(cell, arguments.simulations) for cell in table.CELLS]
                )
            ]
            print(markdown_table((*table.NAMES, *table.KINDS), rows), flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
