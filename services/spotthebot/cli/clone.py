"""The clone of the repository. Its folder `tools` has programs that an installed package does not contain."""

import sys
from pathlib import Path
from typing import Final

from spotthebot.kit.errors import Unavailable

ROOT: Final = Path(__file__).parents[3]
"""The clone's root. In an installed package it is a folder outside of the package."""


class NotAClone(Unavailable):
    """This command needs the sources: run it in a clone of the repository, not from an installed package."""


def has_tools() -> bool:
    """Return whether this package runs in a clone of the repository."""
    return (ROOT / "tools" / "__init__.py").is_file()


def find_tools() -> None:
    """Make the modules in `tools` importable, whichever folder `stb` is called from; raises NotAClone."""
    if not has_tools():
        raise NotAClone
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
