"""`tools.docstrings` on a package of one module: which docstrings are drawn, and how they are printed."""

from pathlib import Path

import pytest

from tools.docstrings import Docstring, draw, list_docstrings

SOURCE = '''"""Prices of the shop."""

class Price:
    """A price in cents."""

    async def add_tax(self, rate: float = 0.19) -> int:
        """Return the price with tax.

        Rounds half up.
        """

    def bare(self): ...
'''


@pytest.fixture
def docstrings(tmp_path: Path) -> list[Docstring]:
    package = tmp_path / "shared" / "spotthebot" / "shop"
    package.mkdir(parents=True)
    (package / "prices.py").write_text(SOURCE)
    return list_docstrings(tmp_path)


def test_lists_modules_classes_and_functions_that_have_a_docstring(docstrings: list[Docstring]):
    assert [(it.kind, it.signature) for it in docstrings] == [
        ("module", ""),
        ("class", "class Price()"),
        ("function", "def add_tax(self, rate: float=0.19) -> int"),
    ]


def test_prints_path_kind_signature_and_text(docstrings: list[Docstring]):
    assert str(docstrings[2]) == (
        "shared/spotthebot/shop/prices.py (function)\n"
        "def add_tax(self, rate: float=0.19) -> int\n"
        "    Return the price with tax.\n\n    Rounds half up.\n"
    )


def test_draws_the_same_docstrings_for_the_same_seed(docstrings: list[Docstring]):
    assert draw(docstrings, 2, seed=7) == draw(docstrings, 2, seed=7)
    assert sorted(draw(docstrings, 100, seed=7), key=str) == sorted(docstrings, key=str)


def test_lists_only_the_given_folders(docstrings: list[Docstring], tmp_path: Path):
    assert list_docstrings(tmp_path, ["shared/spotthebot/shop"]) == docstrings
    assert list_docstrings(tmp_path, ["services"]) == []
