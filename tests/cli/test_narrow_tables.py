"""Tables on a narrow terminal: no number is cut."""

import re

from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.cli.results.figures import interval_of
from tests.docs.following import ROOT


def test_a_bound_that_rounds_to_zero_has_no_sign():
    assert interval_of(-0.0004, 0.07, 3) == "0.000 to 0.070"


def test_a_table_that_is_too_wide_continues_below():
    width = 60
    command = ["analyse", "judged", str(ROOT / "docs" / "examples" / "judged_labels.csv")]
    wide, narrow = (CliRunner().invoke(app, command, env={"COLUMNS": str(each)}).stdout for each in (200, width))
    found = [re.sub(r"[^\w%,]+", " ", text).split() for text in (wide, narrow)]
    assert set(found[0]) == set(found[1])
    assert max(map(len, narrow.splitlines())) <= width
    assert "27.4% to 47.4%" in narrow
    assert [line.split("│")[1].strip() for line in narrow.splitlines() if "│" in line][-2:] == ["amber", "birch"]
