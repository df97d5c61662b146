"""Columns: what is missing in any type, what is refused and how its place is named."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.errors import ColumnMalformed

NAN = float("nan")
MISSING = {
    "None": None,
    "NaN": NAN,
    "NaN of numpy": np.float32("nan"),
    "complex NaN": complex(NAN, 1),
    "decimal NaN": Decimal("NaN"),
    "signalling decimal NaN": Decimal("sNaN"),
    "no date of numpy": np.datetime64("NaT"),
    "no duration of numpy": np.timedelta64("NaT"),
    "NA of pandas": pd.NA,
    "NaT of pandas": pd.NaT,
}


class TestMissingValues:
    @pytest.mark.parametrize("missing", MISSING)
    def test_have_no_code_and_are_no_number_of_their_own(self, missing: str):
        column = [2, MISSING[missing], 1, MISSING[missing]]
        assert read_codes(column, "label", missing=True).code.tolist() == [1, -1, 0, -1]
        np.testing.assert_array_equal(read_numbers(column, "rating"), [2, NAN, 1, NAN])

    @pytest.mark.parametrize("missing", MISSING)
    def test_are_refused_by_their_row_where_none_may_be(self, missing: str):
        with pytest.raises(ColumnMalformed, match=r"Column unit, row 1 \(the first is 0\): is missing"):
            read_codes([2, MISSING[missing]], "unit")

    def test_nan_that_numpy_wrote_as_a_text_is_none_of_the_texts(self):
        texts = np.array(["b", np.nan, "a"])
        assert texts.dtype.kind == "U"
        assert read_codes(texts, "label", missing=True).code.tolist() == [1, -1, 0]
        with pytest.raises(ColumnMalformed, match=r"row 1 \(the first is 0\): is missing"):
            read_codes(texts, "annotator")

    @pytest.mark.parametrize("unit", ["D", "s", "ns"])
    def test_are_found_in_dates(self, unit: str):
        dates = np.array(["2020-01-02", "NaT", "2020-01-01"], dtype=f"M8[{unit}]")
        assert read_codes(dates, "day", missing=True).code.tolist() == [1, -1, 0]


class TestFiniteNumbers:
    @pytest.mark.parametrize(
        ("column", "row"),
        [
            (None, 0),
            (NAN, 0),
            ([1, 2, float("inf")], 2),
            ([[1, 2], [3, 4], [NAN, 5]], 2),
            ([[[1.0], [2.0]], [[3.0], [-np.inf]]], 1),
        ],
    )
    def test_are_missed_by_the_row_of_the_first_axis(self, column: object, row: int):
        with pytest.raises(ColumnMalformed, match=rf"Column x, row {row} \(the first is 0\): holds no finite number"):
            read_numbers(column, "x", finite=True)  # type: ignore[arg-type]
