"""Reads an annotation table from a data frame or a CSV file. An error names the row and the column.

pandas is slow to import and is imported at the first call, so that the service starts without it.
"""

import csv
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, IntArray, LabelCode
from spotthebot.analytics.stats.errors import AnnotationTableMalformed

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = ("conversation", "first", "second", "exchanges", "label_first", "label_second", "annotator")
"""The required columns of a frame."""
TEXT: Final = "text"
"""An optional column: equal values for conversations with the same text."""
LEAD: Final = "lead_"
"""The prefix of the names of feature columns."""
_LONGEST: Final = 60
_LABELS: Final = {label.name.lower(): int(label) for label in LabelCode}


def from_dataframe(frame: "pd.DataFrame") -> AnnotationTable:
    """Return the table of a data frame that has one row for each annotation of a conversation.

    `conversation` and `annotator` have any values; their codes are 0, 1, ... in the order of their first rows. `first`
    and `second` name the speakers; people are "HU". `exchanges` counts the pairs of turns that were seen. `label_first`
    and `label_second` are human, unsure or bot. Each column `lead_NAME` is a feature: 1 if the first speaker had more
    of it, -1 if the second had, 0 if neither had. A column `text` has the shown text of the conversation, or any hash
    of it: conversations with equal values are one cluster in every interval and test. Without it all conversations have
    different texts. Other columns are ignored. Raises `AnnotationTableMalformed`, which names the row by its index and
    the column.

    >>> import pandas as pd
    >>> rows = [("x", "A", "HU", 2, "bot", "human", "ann", -1), ("x", "A", "HU", 2, "unsure", "human", "bob", 0)]
    >>> table = from_dataframe(pd.DataFrame(rows, columns=[*COLUMNS, "lead_fluency"]))
    >>> table.names, table.label.tolist(), table.annotator.tolist()
    (('A', 'HU'), [[0, 2], [1, 2]], [0, 1])
    >>> table.features["fluency"].tolist()  # 1 is "preferred or equal"
    [[0, 1], [1, 1]]
    """
    leads = _require_columns(list(frame.columns))
    texts = [TEXT] if TEXT in frame.columns else []
    frame = frame[[*COLUMNS, *texts, *leads]].astype(object)
    for column in (*COLUMNS, *texts, *leads):
        _refuse(frame, column, frame[column].isna().to_numpy(), "nothing is there")
    for column in ("first", "second"):
        _refuse(frame, column, ~frame[column].map(_is_name).to_numpy(dtype=bool), "{value!r} is not a name")
    speakers = frame[["first", "second"]].to_numpy()
    found = set(speakers.ravel().tolist())
    names = (*sorted(found - {HUMAN}), *(found & {HUMAN}))
    code = {name: at for at, name in enumerate(names)}
    features = {column.removeprefix(LEAD): _integers(frame, column, low=-1, high=1) for column in leads}
    _require_same_in_conversation(frame, "first", "{value!r} spoke, but {before!r}")
    _require_same_in_conversation(frame, "second", "{value!r} spoke, but {before!r}")
    if texts:
        _require_same_in_conversation(frame, TEXT, "{value!r} was said, but {before!r}")
    return AnnotationTable(
        names=names,
        conversation=_codes(frame, "conversation"),
        entity=np.array([code[name] for name in speakers.ravel()], dtype=np.int64).reshape(-1, 2),
        exchanges=_integers(frame, "exchanges", low=1),
        label=np.column_stack([_labels(frame, "label_first"), _labels(frame, "label_second")]),
        annotator=_codes(frame, "annotator"),
        features={name: np.column_stack([lead >= 0, lead <= 0]).astype(np.int64) for name, lead in features.items()},
        text=_codes(frame, TEXT if texts else "conversation"),
    )


def from_csv(path: str | PathLike[str]) -> AnnotationTable:
    """Return the table of a CSV file in UTF-8 with a header and the columns of `from_dataframe`.

    Raises `AnnotationTableMalformed`, which names the line of the file and the column, and OSError.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     _ = file.write_text(f"{','.join(COLUMNS)},lead_wit{chr(10)}x,A,B,2,human,bot,ann,1")
    ...     from_csv(file).label.tolist()
    [[2, 0]]
    """
    import pandas as pd  # noqa: PLC0415 - loaded with the first frame

    rows, numbers = [], []
    with open(path, encoding="utf-8-sig", newline="") as file:  # noqa: PTH123 - any path
        lines = csv.reader(file, strict=True)
        try:
            header = next(lines, [])
            _require_columns(header)
            for row in lines:
                if not row:
                    continue
                if len(row) != len(header):
                    fault = f"line {lines.line_num} has {len(row)} columns, the header {len(header)}"
                    raise AnnotationTableMalformed(fault=fault)
                rows.append([value or None for value in row])
                numbers.append(lines.line_num)
        except csv.Error as error:
            raise AnnotationTableMalformed(fault=f"line {lines.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            raise AnnotationTableMalformed(fault=f"the file is not UTF-8, from line {lines.line_num + 1} on") from error
    return from_dataframe(pd.DataFrame(rows, columns=header, index=pd.Index(numbers, name="line"), dtype=object))


def _require_columns(columns: list[Any]) -> list[str]:
    """Return the names of the feature columns; raises AnnotationTableMalformed if a required column is missing."""
    missing = [column for column in COLUMNS if column not in columns]
    if missing:
        there = ", ".join(map(str, columns)) or "none"
        raise AnnotationTableMalformed(fault=f"it has no column {', '.join(missing)}; there are {there}")
    leads = [column for column in columns if isinstance(column, str) and column.startswith(LEAD)]
    twice = [column for column in (*COLUMNS, TEXT, *leads) if columns.count(column) > 1]
    if twice:
        raise AnnotationTableMalformed(fault=f"column {twice[0]} occurs twice")
    return leads


def _refuse(frame: "pd.DataFrame", column: str, wrong: BoolArray, fault: str) -> None:
    """Raise AnnotationTableMalformed for the first wrong row, if any."""
    if wrong.any():
        at = int(wrong.argmax())
        said = fault.format(value=frame[column].iloc[at])
        raise AnnotationTableMalformed(fault=f"{_row(frame, at)}, column {column}: {said}")


def _row(frame: "pd.DataFrame", at: int) -> str:
    return f"{frame.index.name or 'row'} {frame.index[at]}"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _codes(frame: "pd.DataFrame", column: str) -> IntArray:
    codes: IntArray = frame.groupby(column, sort=False).ngroup().to_numpy(dtype=np.int64)
    return codes


def _labels(frame: "pd.DataFrame", column: str) -> IntArray:
    codes = frame[column].map(_LABELS)
    _refuse(frame, column, codes.isna().to_numpy(), f"{{value!r}} is not one of {', '.join(_LABELS)}")
    labels: IntArray = codes.to_numpy(dtype=np.int64)
    return labels


def _integers(frame: "pd.DataFrame", column: str, *, low: int, high: int | None = None) -> IntArray:
    import pandas as pd  # noqa: PLC0415 - loaded with the first frame

    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~((values >= low) & (values <= (2**53 if high is None else high)) & (values % 1 == 0))
    allowed = f"a whole number, {low} or more" if high is None else f"a whole number from {low} to {high}"
    _refuse(frame, column, wrong, f"{{value!r}} is not {allowed}")
    integers: IntArray = values.astype(np.int64)
    return integers


def _require_same_in_conversation(frame: "pd.DataFrame", column: str, fault: str) -> None:
    before = frame.groupby("conversation", sort=False)[column].transform("first")
    wrong = (frame[column] != before).to_numpy(dtype=bool)
    if wrong.any():
        at = int(wrong.argmax())
        said = fault.format(value=_short(frame[column].iloc[at]), before=_short(before.iloc[at]))
        raise AnnotationTableMalformed(
            fault=f"{_row(frame, at)}, column {column}: {said} in an earlier row of this conversation"
        )


def _short(value: object) -> object:
    """Return a value, shortened for a message."""
    return f"{value[:_LONGEST]}..." if isinstance(value, str) and len(value) > _LONGEST else value
