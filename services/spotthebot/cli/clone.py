"""The clone of the repository, and the programs in its folder `tools`, which no installed package holds."""

import sys
from pathlib import Path
from typing import Final

from spotthebot.kit.errors import Unavailable

ROOT: Final = Path(__file__).parents[3]
"""The clone's root; no folder of ours where the package is installed without one."""


class NotAClone(Unavailable):
    """This command needs the sources: run it in a clone of the repository, not from an installed package."""


def has_tools() -> bool:
    """Say whether this package runs in a clone."""
    return (ROOT / "tools" / "__init__.py").is_file()


def find_tools() -> None:
    """Let modules of `tools` be imported, from whichever folder `stb` is called; raises NotAClone."""
    if not has_tools():
        raise NotAClone
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
