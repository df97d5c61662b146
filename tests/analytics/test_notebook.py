"""The notebook of the docs runs, and holds what it prints."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "examples" / "rank_bots.ipynb"


def test_every_cell_of_the_notebook_prints_what_stands_below_it():
    scope: dict[str, Any] = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), scope)  # noqa: S102 - our own cells
        assert printed.getvalue() == "".join(line for output in cell["outputs"] for line in output["text"])
    assert scope["chart"].to_dict()["title"]["text"] == "Ranking"
    assert "examples/rank_bots.ipynb" in (ROOT / "docs" / "statistics.md").read_text()
