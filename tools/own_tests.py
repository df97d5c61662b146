"""Which tests are a module's own, by where they lie: those of its noun's folder, or those that bear its name."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

NAMESPACES: Final = ("services", "shared")
"""Folders that hold a package; others are one."""
_LAYERS: Final = {"api", "use_cases", "store", "tables", "domain", "errors"}
"""The file names that all nouns have: they say nothing of what a module is about."""


def module_of(file: Path) -> str:
    """Return the dotted name of a Python file of ours; packages are named without `__init__`."""
    parts = file.with_suffix("").parts[1 if file.parts[0] in NAMESPACES else 0 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def own_tests(module: str, tests: Iterable[Path]) -> set[Path]:
    """Return the test files of a module, given as paths below the clone.

    Those of `spotthebot.annotation.campaigns.store` lie in `tests/annotation/campaigns`. Where no folder of tests bears
    the noun's name, and for a module with a name of its own, such as `spotthebot.bots.bot_client`, they are those in
    the package's folder whose names hold the noun or the module's name.
    """
    _, package, *inside = module.split(".") if module.startswith("spotthebot.") else ["", *module.split(".")]
    of_package = {test for test in tests if test.is_relative_to(Path("tests", package))}
    noun = _noun(inside)
    of_noun = {test for test in of_package if test.is_relative_to(Path("tests", package, *noun))} if noun else set()
    names = {*noun[-1:], *[name for name in inside if name not in _LAYERS][-1:]}
    return of_noun or {test for test in of_package if any(name in test.stem.removeprefix("test_") for name in names)}


def _noun(inside: list[str]) -> list[str]:
    """Return the folders that lead to a noun's first layer; of a module that is in no layer, none."""
    layer = next((at for at, name in enumerate(inside) if name in _LAYERS), 0)
    return inside[:layer]
