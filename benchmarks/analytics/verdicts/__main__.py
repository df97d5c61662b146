"""How often a campaign that is looked at after every package ever shows a false verdict, and how many pairs it decides.

`python -m benchmarks.analytics.verdicts [--studies N] [--apart N] [--published FOLDER] [--json FILE]`. The oracle of
simulated campaigns looks once, at the end, and knows the true standard deviations (`power/oracle.py`). With
`--published` the published studies in this folder are replayed.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks.analytics.power.oracle import power_of_oracle
from benchmarks.analytics.verdicts import replays
from benchmarks.analytics.verdicts.campaigns import Order, Setting, draw, first_rows, looks, true_differences
from benchmarks.analytics.verdicts.narrowest import Arriving
from spotthebot.analytics.stats.pair_verdicts import Verdict, pair_verdicts

CONVERSATIONS: Final = 45
ANNOTATORS: Final = (12, 20)
APART: Final = 0.6
"""The step between the skills of two bots; the first and the third are clearly apart."""
CLEAR: Final = 1
"""The place of the clear pair in `triu_indices`."""
COLUMNS: Final = (
    "Annotators, order",
    "False claims",
    "Truth ever outside",
    "Oracle: clear",
    "Decided: clear",
    "Others",
)


class Followed(NamedTuple):
    """What one campaign showed at any look: claims (pairs,) that are false or true, and bounds that missed the truth.

    `estimates` (pairs,) are those of the last look.
    """

    false: list[bool]
    decided: list[bool]
    missed: list[bool]
    estimates: list[float]


def follow(setting: Setting, order: Order, truth: Sequence[float], seed: int) -> Followed:
    """Look at one campaign after every package. Bots that differ are apart by the margin, the smallest difference."""
    table = draw(setting, order, seed)
    arriving = Arriving(table)
    apart = np.array(truth) if setting.step else np.zeros(len(truth))
    margin = float(np.min(np.abs(apart))) if setting.step else 0.0
    false, decided, missed = (np.zeros(len(apart), dtype=bool) for _ in range(3))
    estimate = np.full(len(apart), np.nan)
    for n in looks(table).tolist():
        estimate, reach = arriving.bounds(n)
        news = (np.abs(estimate) > reach) & ~(decided | false) | (np.abs(estimate - apart) > reach) & ~missed
        if not np.any(news | (np.abs(estimate) + reach < margin) & ~false):
            continue
        for at, each in enumerate(pair_verdicts(first_rows(table, n), margin=margin or None)):
            is_true = each.verdict is Verdict.AHEAD and apart[at] > 0
            decided[at] |= is_true
            false[at] |= each.verdict is not Verdict.OPEN and not is_true
            missed[at] |= each.low is not None and not each.low <= apart[at] <= each.high
    return Followed(false.tolist(), decided.tolist(), missed.tolist(), np.nan_to_num(estimate).tolist())


def count(order: Order, annotators: int, studies: int, apart: int, pool: ProcessPoolExecutor) -> dict[str, float]:
    """Return the shares of one row: of `studies` campaigns of equal bots and of `apart` campaigns of others."""
    alike_setting, apart_setting = (Setting(annotators, CONVERSATIONS, step) for step in (0.0, APART))
    truth = true_differences(APART)
    alike = list(pool.map(partial(follow, alike_setting, order, truth), range(studies), chunksize=4))
    differ = list(pool.map(partial(follow, apart_setting, order, truth), range(apart), chunksize=4))
    decided = np.mean([each.decided for each in differ], axis=0)
    ends = [np.array([each.estimates for each in group])[:, [CLEAR]] for group in (alike, differ)]
    return {
        "false": float(np.mean([any(each.false) for each in alike])),
        "false, apart": float(np.mean([any(each.false) for each in differ])),
        "missed": float(np.mean([any(each.missed) for each in alike])),
        "missed, apart": float(np.mean([any(each.missed) for each in differ])),
        "oracle": power_of_oracle(*ends),
        "clear": float(decided[CLEAR]),
        "others": float(np.mean(np.delete(decided, CLEAR))),
    }


def lines(rows: dict[str, dict[str, float]]) -> Iterator[str]:
    """Return the table of simulated campaigns. Of two shares, the second belongs to bots that differ."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for name, row in rows.items():
        shares = [
            f"{row['false']:.1%}, {row['false, apart']:.1%}",
            f"{row['missed']:.1%}, {row['missed, apart']:.1%}",
            *(f"{row[each]:.0%}" for each in ("oracle", "clear", "others")),
        ]
        yield f"| {name} | {' | '.join(shares)} |"


def published(folder: Path) -> Iterator[str]:
    """Return the table of replayed studies, in the order of arrival and in random orders of the same packages."""
    yield "| Study, order | Labels of pairs | Decided: oracle | Verdicts | Saved: oracle | Verdicts | Contradictions |"
    yield "|---" * 7 + "|"
    for domain in replays.DOMAINS:
        study = replays.read(folder, domain)
        for name, found in (
            ("as it arrived", [replays.replay(study)]),
            ("random, mean of 20", replays.shuffled(study)),
        ):
            mean = {
                each: float(np.mean([getattr(saved, each) for saved in found]))
                for each in ("decided_by_oracle", "decided", "by_oracle", "by_verdicts")
            }
            shown = [
                f"{domain}, {name}",
                f"{found[0].labels:,}",
                f"{mean['decided_by_oracle']:.3g} of {found[0].pairs}",
                f"{mean['decided']:.3g}",
                f"{mean['by_oracle']:.1%}",
                f"{mean['by_verdicts']:.1%}",
                f"{sum(saved.contradictions for saved in found)}",
            ]
            yield f"| {' | '.join(shown)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.verdicts")
    parser.add_argument("--studies", type=int, default=2000, help="campaigns of equal bots in a row")
    parser.add_argument("--apart", type=int, default=500, help="campaigns of bots that differ in a row")
    parser.add_argument("--published", type=Path, help="replay the published studies in this folder")
    parser.add_argument("--json", type=Path, help="write the shares to this file")
    chosen = parser.parse_args(arguments)
    if chosen.published:
        for line in published(chosen.published):
            print(line, flush=True)  # noqa: T201 - the table is the output
        return
    rows = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for annotators in ANNOTATORS:
            for order in Order:
                rows[f"{annotators}, {order.value}"] = count(order, annotators, chosen.studies, chosen.apart, pool)
                if chosen.json:
                    chosen.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for line in lines(rows):
        print(line, flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
