from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
import pytest

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.frames import from_csv, from_dataframe
from spotthebot.analytics.stats.result_frames import to_dataframe
from tests.analytics.stats.annotation_tables import table_of

ROWS = [(0, "A", "B", 2, (2, 0), 0), (0, "A", "B", 3, (1, 1), 1), (1, "HU", "HU", 2, (2, 2), 0)]


def _columns(**changed):
    columns = {
        "names": ("A", "B", "HU"),
        "conversation": np.array([0, 0, 1]),
        "entity": np.array([[0, 1], [0, 1], [2, 2]]),
        "exchanges": np.array([2, 3, 2]),
        "label": np.array([[2, 0], [1, 1], [2, 2]]),
        "annotator": np.array([0, 1, 0]),
        "features": {"fluency": np.array([[1, 1], [1, 0], [0, 1]])},
    }
    return columns | changed


class TestAnnotationTable:
    def test_names_its_bots_and_keeps_the_rows_between_them(self):
        table = table_of(ROWS, names=("HU", "A", "B"))
        assert table.bots == ("A", "B")
        assert table.between_bots().exchanges.tolist() == [2, 3]
        assert len(table_of(ROWS[:1], names=("A", "B")).between_bots()) == 1

    def test_selects_rows_of_every_column(self):
        table = AnnotationTable(**_columns()).select(np.array([False, True, False]))
        assert table.label.tolist() == [[1, 1]]
        assert table.features["fluency"].tolist() == [[1, 0]]

    def test_has_no_labels_but_human_unsure_and_bot(self):
        rows = [(0, "A", "B", 2, "bot", "human", 0), (0, "A", "B", 2, "maybe", "unsure", 1)]
        assert AnnotationTable.from_rows(rows[:1]).label.tolist() == [[0, 2]]
        with pytest.raises(AnnotationTableMalformed, match="maybe: must be one of bot, unsure, human"):
            AnnotationTable.from_rows(rows)

    def test_can_be_empty(self):
        table = table_of([], names=("A", "B"))
        assert len(table) == len(table.between_bots()) == 0

    def test_does_not_change_with_the_arrays_it_was_made_from(self):
        labels = np.array([[2, 0], [1, 1], [2, 2]])
        table = AnnotationTable(**_columns(label=labels))
        labels[0, 0] = 0
        assert table.label[0, 0] == 2
        with pytest.raises(ValueError, match="read-only"):
            table.label[0, 0] = 0

    @pytest.mark.parametrize(
        ("changed", "fault"),
        [
            ({"names": ("A", "A", "HU")}, "`names` holds a name twice"),
            ({"label": np.array([[2, 0], [1, 1]])}, r"column label has shape \(2, 2\), not \(3, 2\)"),
            ({"annotator": np.array([0, 1])}, r"column annotator has shape \(2,\), not \(3,\)"),
            ({"exchanges": np.array([2.0, 3.0, 2.0])}, "column exchanges holds float64, not integers"),
            ({"exchanges": np.array([2, 0, 2])}, "column exchanges must be 1 or more"),
            ({"entity": np.array([[0, 1], [0, 1], [3, 3]])}, "column entity must be 0 to 2"),
            ({"label": np.array([[2, 0], [1, 3], [2, 2]])}, "column label must be 0 to 2"),
            ({"conversation": np.array([0, -1, 1])}, "column conversation must be 0 or more"),
            ({"features": {"fluency": np.array([[1, 1], [1, 2], [0, 1]])}}, "column feature fluency must be 0 to 1"),
            ({"conversation": np.array([0, 0, 0])}, "a conversation has different speakers in different rows"),
        ],
    )
    def test_says_which_column_is_wrong_and_how(self, changed, fault):
        with pytest.raises(AnnotationTableMalformed, match=fault):
            AnnotationTable(**_columns(**changed))


FRAME = pd.DataFrame(
    [
        ("c7", "B", "A", 2, "human", "bot", "eve", 1),
        ("c7", "B", "A", 3.0, "unsure", "unsure", "bob", 0),
        ("c2", "HU", "HU", "2", "human", "human", "eve", -1),
    ],
    columns=["conversation", "first", "second", "exchanges", "label_first", "label_second", "annotator", "lead_wit"],
    index=[10, 20, 30],
)


def _frame(column, value):
    changed = FRAME.astype(object)
    changed.loc[20, column] = value
    return changed


class TestDataFrames:
    @pytest.mark.parametrize("dtype", [object, "category"])
    def test_become_tables(self, dtype):
        table = from_dataframe(FRAME.assign(note=None).astype(dtype))
        assert table.names == ("A", "B", "HU")
        assert (table.conversation.tolist(), table.annotator.tolist()) == ([0, 0, 1], [0, 1, 0])
        assert table.entity.tolist() == [[1, 0], [1, 0], [2, 2]]
        assert table.exchanges.tolist() == [2, 3, 2]
        assert table.label.tolist() == [[2, 0], [1, 1], [2, 2]]
        assert table.features["wit"].tolist() == [[1, 0], [1, 1], [0, 1]]
        assert len(from_dataframe(FRAME[:0])) == 0

    @pytest.mark.parametrize(
        ("frame", "fault"),
        [
            (_frame("label_first", "Human"), "row 20, column label_first: 'Human' is not one of bot, unsure, human"),
            (_frame("label_second", None), "row 20, column label_second: nothing is there"),
            (_frame("exchanges", 0), "row 20, column exchanges: 0 is not a whole number, 1 or more"),
            (_frame("exchanges", 2.5), "row 20, column exchanges: 2.5 is not a whole number, 1 or more"),
            (_frame("exchanges", "two"), "row 20, column exchanges: 'two' is not a whole number, 1 or more"),
            (_frame("lead_wit", 2), "row 20, column lead_wit: 2 is not a whole number from -1 to 1"),
            (_frame("first", 5), "row 20, column first: 5 is not a name"),
            (_frame("second", "{C}"), "row 20, column second: '{C}' spoke, but 'A' in an earlier row of this conver"),
            (_frame("annotator", float("nan")).rename_axis("sheet row"), "sheet row 20, column annotator: nothing is"),
            (
                FRAME.drop(columns=["second", "annotator"]),
                "it has no column second, annotator; there are",
            ),
            (FRAME.rename(columns={"lead_wit": "first"}), "column first occurs twice"),
        ],
    )
    def test_are_refused_by_row_and_column(self, frame, fault):
        with pytest.raises(AnnotationTableMalformed) as refused:
            from_dataframe(frame)
        assert f"The annotation table is malformed: {fault}" in str(refused.value)

    def test_are_read_from_csv(self, tmp_path):
        file = tmp_path / "labels.csv"
        file.write_text("\ufeff" + FRAME.to_csv(index=False).replace("\n", "\n\n"), encoding="utf-8")
        assert from_csv(file).label.tolist() == from_dataframe(FRAME).label.tolist()

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "it has no column conversation, first"),
            (b'c,A,B,2,bot,bot,"eve\nand bob"\n\nc,A,B,2,bot,,eve\n', "line 5, column label_second: nothing is there"),
            (b"c,A,B,2,bot\n", "line 2 has 5 columns, the header 7"),
            (b'c,A,B,2,bot,bot,"eve"x\n', "line 2: ',' expected after '\"'"),
            (b"c,A,\xff,2,bot,bot,eve\n", "the file is not UTF-8"),
        ],
    )
    def test_in_csv_are_refused_by_line(self, tmp_path, content, fault):
        file = tmp_path / "labels.csv"
        file.write_bytes(content and ",".join(FRAME.columns[:7]).encode() + b"\n" + content)
        with pytest.raises(AnnotationTableMalformed) as refused:
            from_csv(file)
        assert fault in str(refused.value)


@dataclass(frozen=True)
class _Member:
    name: str
    n: int


@dataclass(frozen=True)
class _Group:
    members: tuple[_Member, ...]
    notes: tuple[str, ...]
    n: int
    level: float


@dataclass(frozen=True)
class _Curve:
    time: tuple[int, ...]
    share: tuple[float, ...]
    level: float


@dataclass(frozen=True)
class _Sizes:
    size: tuple[int, ...]
    level: float


class TestResultsAsDataFrames:
    def test_have_a_row_for_each_result_that_another_holds(self):
        members = (_Member("a", 1), _Member("b", 2))
        found = to_dataframe(_Group(members, ("x", "y", "z"), 3, 0.5))
        assert found.to_dict("records") == [
            {"name": "a", "n": 1, "all_n": 3, "level": 0.5},
            {"name": "b", "n": 2, "all_n": 3, "level": 0.5},
        ]

    def test_have_a_row_for_each_place_of_lists_of_one_length(self):
        found = to_dataframe(_Curve((1, 2), (0.5, 1.0), 0.9))
        assert found.to_dict("records") == [
            {"level": 0.9, "time": 1, "share": 0.5},
            {"level": 0.9, "time": 2, "share": 1.0},
        ]

    @pytest.mark.parametrize("result", [_Curve((1, 2), (0.5,), 0.9), _Sizes((1, 2), 0.9), _Sizes((), 0.9)])
    def test_keep_other_lists_in_one_cell_each(self, result):
        assert to_dataframe([result, result]).to_dict("records") == [asdict(result)] * 2
