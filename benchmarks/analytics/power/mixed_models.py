"""How often mixed models tell equal bots apart, and how many true differences they find, beside the suite's own test.

`python -m benchmarks.analytics.power.mixed_models [--simulations N] [--first-seed S]`. "Linear" is
`linear_mixed_model`, "link" is `cumulative_link_mixed_model`, "suite's" is `rating_differences`. Tests are adjusted by
Holm. Coverage counts the intervals of single differences of equal bots.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np

from benchmarks.analytics.power.oracle import LEVEL
from benchmarks.analytics.power.rated_studies import RatedStudy, draw_study
from benchmarks.tables import table_head, table_row
from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings

_HALF: Final = (0.3, 0.1, -0.1, -0.3)
STUDIES: Final[Mapping[str, RatedStudy]] = MappingProxyType(
    {
        "no taste, 3 annotators": RatedStudy(4, 45, 3, taste=0.0, strengths=_HALF),
        "no taste, 6 annotators": RatedStudy(4, 45, 6, taste=0.0, strengths=_HALF),
        "no taste, 40 annotators": RatedStudy(4, 45, 40, taste=0.0, strengths=_HALF),
        "taste, 3 annotators": RatedStudy(4, 45, 3, strengths=_HALF),
        "taste, 6 annotators": RatedStudy(4, 45, 6, strengths=_HALF),
        "taste, 12 annotators": RatedStudy(4, 45, 12, strengths=_HALF),
        "taste, 40 annotators": RatedStudy(4, 45, 40, strengths=_HALF),
        "taste, 6 annotators rate all dialogues": RatedStudy(4, 45, 6, each=6, strengths=_HALF),
        "no taste, 8 dialogues a bot, 6 annotators": RatedStudy(4, 8, 6, taste=0.0, strengths=_HALF),
    }
)
"""Four bots with 45 dialogues each, two ratings of a dialogue, unless the name says otherwise."""


class Difference(Protocol):
    """One difference of two bots, by any of the tests."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def p_adjusted(self) -> float | None: ...


TESTS: Final[Mapping[str, Callable[[Ratings], Iterable[Difference]]]] = MappingProxyType(
    {
        "linear": lambda ratings: linear_mixed_model(ratings).pairs,
        "link": lambda ratings: cumulative_link_mixed_model(ratings).pairs,
        "suite's": rating_differences,
    }
)
_FALSE, _COVERAGE, _FOUND, _NO_FIT = _COUNTED = ("False", "Coverage", "Found", "No fit")
COLUMNS: Final = ("Studies", *(f"{kind}, {test}" for kind in _COUNTED[:3] for test in TESTS), _NO_FIT)


def count_study(study: RatedStudy, simulations: int, first_seed: int = 0) -> list[float]:
    """Return the shares of a row: false claims, coverage, differences found, and studies without a fit."""
    equal, apart = replace(study, strengths=None), study
    counted: dict[str, list[float]] = {f"{kind}, {test}": [] for kind in _COUNTED for test in TESTS}
    for seed in range(first_seed, first_seed + simulations):
        for kind, drawn in ((0, equal), (1, apart)):
            ratings = draw_study(drawn, np.random.default_rng([36, seed, kind]))
            for test, differences_of in TESTS.items():
                differences = list(differences_of(ratings))
                claims = [each.p_adjusted is not None and each.p_adjusted < LEVEL for each in differences]
                counted[f"{_NO_FIT}, {test}"].append(float(all(each.low is None for each in differences)))
                if kind:
                    counted[f"{_FOUND}, {test}"].append(float(np.mean(claims)))
                    continue
                counted[f"{_FALSE}, {test}"].append(float(any(claims)))
                counted[f"{_COVERAGE}, {test}"] += [
                    float(each.low <= 0 <= each.high)
                    for each in differences
                    if each.low is not None and each.high is not None
                ]
    shares = {name: float(np.mean(each or [np.nan])) for name, each in counted.items()}
    return [*(shares[name] for name in COLUMNS[1:-1]), max(shares[f"{_NO_FIT}, {test}"] for test in TESTS)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, each row when it is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power.mixed_models")
    parser.add_argument("--simulations", type=int, default=1000, help="studies a row")
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    print(table_head(COLUMNS))  # noqa: T201 - the table is the output
    for name, study in STUDIES.items():
        shares = count_study(study, chosen.simulations, chosen.first_seed)
        print(table_row([name, *(f"{share:.1%}" for share in shares)]), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
