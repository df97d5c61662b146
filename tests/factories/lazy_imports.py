"""Names of packages that are slow to import, imported when a test uses them first.

Each test worker imports every file of tests to find what is in it; torch and transformers would take four seconds of
that, statsmodels and openai one each.
"""

import functools
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

needs_models = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="torch or transformers is not installed: run './stb install models'",
)


class _Lazy:
    def __init__(self, place: str) -> None:
        self._place = place

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks at every name of a module for marks and fixtures
            raise AttributeError(name)
        return getattr(_imported(self._place), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _imported(self._place)(*args, **kwargs)


def lazily(place: str) -> Any:
    """Stand for a module, or for a function or class of one: `torch`, `transformers:GPT2Config`."""
    return _Lazy(place)


@functools.cache
def _imported(place: str) -> Any:
    module_name, _, name = place.partition(":")
    module = import_module(module_name)
    return getattr(module, name) if name else module
