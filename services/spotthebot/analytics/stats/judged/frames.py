"""Reads labels of people and answers of a judge from one CSV file. An error names the line and the column."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import LabelCode
from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.judged.ceiling import Ceiling, judge_ceiling
from spotthebot.analytics.stats.judged.values import JudgedValues

COLUMNS: Final = ("conversation", "bot", "annotator", "label", "judge")
OPTIONAL: Final = ("exchanges", "side", "probability")
_LABELS: Final = {label.name.lower(): label for label in LabelCode}


@dataclass(frozen=True, eq=False)
class JudgedFile:
    """The rows of a file: whether each label is "human" as a value, and how many rows repeated an earlier row."""

    values: JudgedValues
    repeated: int

    def ceiling(self, confidence_level: float = 0.95) -> Ceiling:
        """Return the ceiling of the labels, within bots and lengths."""
        asked = ~np.isnan(self.values.value)
        group = self.values.bot + len(self.values.bots) * self.values.stratum
        return judge_ceiling(
            self.values.unit[asked],
            group[asked],
            self.values.conversation[asked],
            self.values.annotator[asked],
            self.values.value[asked],
            confidence_level=confidence_level,
        )


@dataclass(frozen=True)
class _Row:
    line: int
    unit: tuple[str, ...]
    annotator: str
    label: str
    judge: float
    probability: float


def judged_from_csv(path: str | PathLike[str]) -> JudgedFile:
    r"""Return the labels and the judge's answers in a CSV file in UTF-8 with a header.

    A row is a label of one bot in one conversation, or a bot in a conversation that nobody labelled. `label` is human,
    unsure or bot, empty where nobody was asked. `judge` is the judge's probability of "human", empty where it gave no
    answer. Optional columns: `exchanges` (the length that was seen) and `side` keep labels of different texts apart,
    `probability` is the chance with which a design drew the row's unit for people. Other columns are ignored. A row
    that repeats an earlier row counts once. Raises `AnnotationTableMalformed`, and OSError.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     rows = ["conversation,bot,annotator,label,judge", "c1,A,ann,human,0.8", "c2,A,,,0.4"]
    ...     _ = file.write("\n".join(rows)), file.flush()
    ...     judged_from_csv(file.name).values.judge.tolist()
    [0.8, 0.4]
    """
    rows, repeated = _distinct(_read(path))
    if not rows:
        raise AnnotationTableMalformed(fault="it has no rows")
    judge = _same_of_unit(rows, "judge")
    chance = _same_of_unit(rows, "probability")
    bots = tuple(sorted({row.unit[1] for row in rows}))
    units, conversations, annotators, lengths = (
        {key: at for at, key in enumerate(dict.fromkeys(keys))}
        for keys in (
            (row.unit for row in rows),
            (row.unit[0] for row in rows),
            (row.annotator for row in rows),
            sorted({row.unit[2] for row in rows}),
        )
    )
    values = JudgedValues(
        bots=bots,
        bot=np.array([bots.index(row.unit[1]) for row in rows]),
        unit=np.array([units[row.unit] for row in rows]),
        conversation=np.array([conversations[row.unit[0]] for row in rows]),
        annotator=np.array([annotators[row.annotator] if row.label else -1 for row in rows]),
        value=np.array([float(_LABELS[row.label] == LabelCode.HUMAN) if row.label else np.nan for row in rows]),
        judge=np.array([judge[row.unit] for row in rows]),
        stratum=np.array([lengths[row.unit[2]] for row in rows]),
        probability=np.array([chance[row.unit] if row.label else 1.0 for row in rows]),
    )
    return JudgedFile(values, repeated)


def _read(path: str | PathLike[str]) -> Iterator[_Row]:
    with open(path, encoding="utf-8-sig", newline="") as file:  # noqa: PTH123 - any path
        lines = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(lines, [])]
            _require_columns(header)
            for cells in lines:
                if not any(cells):
                    continue
                if len(cells) != len(header):
                    fault = f"line {lines.line_num} has {len(cells)} columns, the header {len(header)}"
                    raise AnnotationTableMalformed(fault=fault)
                yield _row(lines.line_num, dict(zip(header, map(str.strip, cells), strict=True)))
        except csv.Error as error:
            raise AnnotationTableMalformed(fault=f"line {lines.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            raise AnnotationTableMalformed(fault=f"the file is not UTF-8, from line {lines.line_num + 1} on") from error


def _require_columns(header: list[str]) -> None:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        there = ", ".join(header) or "none"
        raise AnnotationTableMalformed(fault=f"it has no column {', '.join(missing)}; there are {there}")
    twice = [name for name in (*COLUMNS, *OPTIONAL) if header.count(name) > 1]
    if twice:
        raise AnnotationTableMalformed(fault=f"column {twice[0]} occurs twice")


def _row(line: int, cells: Mapping[str, str]) -> _Row:
    for name in ("conversation", "bot"):
        if not cells[name]:
            raise AnnotationTableMalformed(fault=f"line {line}, column {name}: nothing is there")
    label = cells["label"].lower()
    if label and label not in _LABELS:
        allowed = f"{', '.join(_LABELS)}, or empty"
        raise AnnotationTableMalformed(fault=f"line {line}, column label: {cells['label']!r} is not {allowed}")
    if label and not cells["annotator"]:
        raise AnnotationTableMalformed(fault=f"line {line}, column annotator: a label needs its annotator")
    probability = _number(line, cells, "probability", "above 0 and at most 1", empty=1.0)
    if probability == 0:
        raise AnnotationTableMalformed(fault=f"line {line}, column probability: '0' is not above 0")
    return _Row(
        line=line,
        unit=(cells["conversation"], cells["bot"], cells.get("exchanges", ""), cells.get("side", "")),
        annotator=cells["annotator"] if label else "",
        label=label,
        judge=_number(line, cells, "judge", "from 0 to 1, or empty", empty=np.nan),
        probability=probability,
    )


def _number(line: int, cells: Mapping[str, str], name: str, allowed: str, *, empty: float) -> float:
    cell = cells.get(name, "")
    if not cell:
        return empty
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise AnnotationTableMalformed(fault=f"line {line}, column {name}: {cell!r} is not a probability {allowed}")
    return value


def _distinct(rows: Iterator[_Row]) -> tuple[list[_Row], int]:
    """Return the rows without repeated rows, and the number of repeated rows; raises AnnotationTableMalformed."""
    first: dict[tuple[tuple[str, ...], str], _Row] = {}
    repeated = 0
    for row in rows:
        before = first.setdefault((row.unit, row.annotator), row)
        if before is row:
            continue
        if before.label != row.label:
            fault = f"line {row.line}, column label: {row.label!r}, but {before.label!r} in line {before.line}, of the"
            raise AnnotationTableMalformed(fault=f"{fault} same annotator, conversation and bot")
        repeated += 1
    return list(first.values()), repeated


def _same_of_unit(rows: list[_Row], name: str) -> dict[tuple[str, ...], float]:
    """Return the one number that a column has in the rows of each unit, NaN without one.

    Raises AnnotationTableMalformed if a unit has two numbers.
    """
    first: dict[tuple[str, ...], _Row] = {}
    for row in rows:
        value = getattr(row, name)
        before = first.setdefault(row.unit, row) if not np.isnan(value) else row
        if before is not row and getattr(before, name) != value:
            other = f"{getattr(before, name):g} in line {before.line}"
            fault = f"line {row.line}, column {name}: {value:g}, but {other}, of the same conversation and bot"
            raise AnnotationTableMalformed(fault=fault)
    return {row.unit: getattr(first.get(row.unit, row), name) for row in rows}
