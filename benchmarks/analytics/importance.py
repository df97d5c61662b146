"""How often a measure that tells nothing of an outcome is claimed to, at the level 5 %.

`python -m benchmarks.analytics.importance [--simulations N]`: outcomes and measures of 120 dialogues are drawn
independently of each other. Both share people and texts: who rates a dialogue's outcome adds their leniency to it, who
rates the measure theirs, and the four dialogues of one text have effects in common. Outcomes are of interactors, each
of many dialogues or of one, or of the annotators who rate the measure, too.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy

from benchmarks.tables import table_head, table_row
from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.assessment.importance import Importance, Model, importance
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.clustered_variance import Observations

DIALOGUES: Final = 120
_LEVEL: Final = 0.05
COLUMNS: Final = (
    "Outcomes are of",
    "Model",
    "Published test",
    "CR1 by text",
    "CR1 by person",
    "The suite's",
    "At most 5 %",
)


@dataclass(frozen=True)
class Cell:
    """A kind of study: how many people rate outcomes, how alike they are, and whether they rate the measure, too."""

    words: str
    people: int
    correlation: float
    same_people: bool
    text_effect: float


CELLS: Final = (
    Cell("one interactor for each dialogue", DIALOGUES, 0.0, same_people=False, text_effect=0.0),
    Cell(
        "one interactor for each dialogue, four dialogues of a text", DIALOGUES, 0.0, same_people=False, text_effect=0.7
    ),
    Cell("40 interactors", 40, 0.3, same_people=False, text_effect=0.4),
    Cell("12 interactors", 12, 0.3, same_people=False, text_effect=0.4),
    Cell("40 annotators of the measure", 40, 0.3, same_people=True, text_effect=0.4),
    Cell("12 annotators of the measure", 12, 0.3, same_people=True, text_effect=0.4),
    Cell("6 annotators of the measure", 6, 0.3, same_people=True, text_effect=0.4),
)


@dataclass(frozen=True, eq=False)
class _Study:
    outcome: FloatArray
    measure: FloatArray
    text: IntArray
    person: IntArray


def main() -> None:
    """Print a table of the shares of false claims."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.importance")
    parser.add_argument("--simulations", type=int, default=2000, help="studies a row")
    arguments = parser.parse_args()
    print(table_head(COLUMNS))  # noqa: T201 - the result
    for row in rows(arguments.simulations):
        print(table_row(row), flush=True)  # noqa: T201 - the result


def rows(simulations: int) -> Iterator[list[str]]:
    """Yield the cells of each row of the table."""
    for cell in CELLS:
        for model in Model:
            shares = false_claims(cell, model, simulations)
            chance = 2 * np.sqrt(_LEVEL * (1 - _LEVEL) / simulations)
            held = "yes" if shares[-1] <= _LEVEL + chance else "**no**"
            yield [
                cell.words,
                model.value.replace("_", " "),
                *(f"{share:.1%}" for share in shares),
                held,
            ]


def false_claims(cell: Cell, model: Model, simulations: int) -> list[float]:
    """Return the share of studies in which each test claims a relation: as the columns of the table."""
    claims = np.zeros(4)
    for seed in range(simulations):
        study = _draw(cell, model, np.random.default_rng([seed, CELLS.index(cell), list(Model).index(model)]))
        people, members = annotator_sets(np.arange(len(study.outcome)), study.person)
        who = Observations(study.text, people, members)
        found = importance(study.outcome, study.measure, who, model=model)
        p_values = [found.published_p_value, *(_cr1(study, found, model, by) for by in (study.text, study.person))]
        claims += [p is not None and p < _LEVEL for p in (*p_values, found.p_value)]
    return [float(share) for share in claims / simulations]


def _draw(cell: Cell, model: Model, rng: np.random.Generator) -> _Study:
    outcome, person, text = _rated(cell, rng, None)
    measure, _, _ = _rated(cell, rng, person if cell.same_people else None)
    if model is Model.LINEAR:
        return _Study(outcome, measure, text, person)
    if model is Model.LOGISTIC:
        return _Study((outcome > 0).astype(np.float64), measure, text, person)
    # Two dialogues of a text are compared by one person, who may prefer a side.
    side = rng.normal(0, 0.5, cell.people)[person]
    preferred = side + rng.normal(size=len(person)) > 0
    sides = rng.normal(0, 0.5, cell.people)[person] if cell.same_people else 0.0
    return _Study(preferred.astype(np.float64), sides + rng.normal(size=len(person)), text, person)


def _rated(cell: Cell, rng: np.random.Generator, person: IntArray | None) -> tuple[FloatArray, IntArray, IntArray]:
    text = np.arange(DIALOGUES) // 4
    if person is None:
        person = rng.permutation(np.arange(DIALOGUES) % cell.people)
    leniency = rng.normal(0, np.sqrt(cell.correlation / (1 - cell.correlation)), cell.people)[person]
    shared = rng.normal(0, cell.text_effect, DIALOGUES // 4)[text]
    return leniency + shared + rng.normal(size=DIALOGUES), person, text


def _cr1(study: _Study, found: Importance, model: Model, by: Any) -> float | None:  # noqa: ANN401 - codes
    """Return the p-value of the sandwich with the factor of Stata and statsmodels, and t of G - 1 degrees."""
    if found.coefficient is None:
        return None
    x, y = study.measure, study.outcome
    design = x[:, None] if model is Model.WITHIN_PAIRS else np.column_stack([np.ones(len(x)), x])
    coefficients = _fitted(design, y, model)
    level = design @ coefficients
    chance = level if model is Model.LINEAR else scipy.special.expit(level)
    spread = np.ones(len(y)) if model is Model.LINEAR else chance * (1 - chance)
    bread = np.linalg.inv((design.T * spread) @ design)
    clusters, code = np.unique(by, return_inverse=True)
    sums = np.zeros((len(clusters), design.shape[1]))
    np.add.at(sums, code, design * (y - chance)[:, None])
    n, q, g = len(y), design.shape[1], len(clusters)
    factor = g / (g - 1) * (n - 1) / (n - q)
    variance = factor * float((bread @ sums.T @ sums @ bread)[-1, -1])
    return float(2 * scipy.stats.t.sf(abs(coefficients[-1]) / np.sqrt(variance), g - 1))


def _fitted(design: FloatArray, y: FloatArray, model: Model) -> FloatArray:
    if model is Model.LINEAR:
        return np.asarray(np.linalg.lstsq(design, y, rcond=None)[0])
    found = model.explained(y, design[:, -1:]).coefficients
    return np.array(found[1:] if model is Model.WITHIN_PAIRS else found)


if __name__ == "__main__":
    main()
