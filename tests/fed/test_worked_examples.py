"""The worked examples in the docstrings of FED hold."""

import doctest
import importlib
from pathlib import Path

import pytest

import spotthebot.fed

ROOT = Path(str(spotthebot.fed.__file__)).parent
MODULES = sorted(
    f"spotthebot.fed.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}"
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_worked_examples_hold(name: str):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
