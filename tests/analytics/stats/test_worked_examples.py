"""Every public function of the statistics shows a worked example, and every example is right."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

from spotthebot.analytics import stats
from spotthebot.analytics.stats.survival import exact_times

MODULES = sorted(module.name for module in pkgutil.walk_packages(stats.__path__, f"{stats.__name__}."))
FUNCTIONS = sorted(
    {name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))}
    | {
        name
        for name, found in vars(exact_times).items()
        if inspect.isfunction(found) and found.__module__ == exact_times.__name__ and not name.startswith("_")
    }
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_has_an_example(name):
    function = getattr(stats, name, None) or getattr(exact_times, name)
    assert ">>>" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_right(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
