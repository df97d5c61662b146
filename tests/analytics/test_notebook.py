"""The notebooks of the docs run, and hold what they print."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_prints_what_stands_below_it(notebook: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(notebook.parent)
    scope: dict[str, Any] = {}
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), scope)  # noqa: S102 - our own cells
        assert printed.getvalue() == "".join(line for output in cell["outputs"] for line in output["text"])


def test_there_are_four_and_a_page_links_to_each():
    assert len(NOTEBOOKS) == 4
    index = (ROOT / "docs" / "index.md").read_text()
    assert [each.name for each in NOTEBOOKS if f"](examples/{each.name})" not in index] == []
