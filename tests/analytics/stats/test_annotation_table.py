import numpy as np
import pytest

from spotthebot.analytics.stats import AnnotationTable, AnnotationTableMalformed
from tests.factories.annotation_tables import table_of

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
            ({"names": ("A", "A", "HU")}, "a name occurs twice"),
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
