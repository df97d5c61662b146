"""Every module of the shared statistics has examples that are right."""

import doctest
import importlib
import pkgutil

import pytest

from spotthebot import statistics

MODULES = sorted(module.name for module in pkgutil.walk_packages(statistics.__path__, f"{statistics.__name__}."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_right(name: str):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
