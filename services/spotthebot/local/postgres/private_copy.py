"""A copy of the wheel's PostgreSQL that an unprivileged account can read.

Under root the Python environment often lies in a private home, which PostgreSQL's account can't enter. The copy is made
once per version and shared by every cluster below the same parent folder.
"""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from spotthebot.local.postgres.account import Account, first_closed_folder
from spotthebot.local.postgres.binaries import Binaries
from spotthebot.local.postgres.errors import BinariesUnreadable
from spotthebot.local.postgres.home import one_at_a_time

_UNFINISHED = ".unfinished-"


def readable_binaries(binaries: Binaries, account: Account | None, parent: Path) -> Binaries:
    """Return `binaries`, or a copy below `parent` if `account` can't read them.

    Raises BinariesUnreadable for an installation that can't be copied, because its share folder is elsewhere.
    """
    if account is None:
        return binaries
    tree = binaries.tree
    needed = [folder for folder in (binaries.folder, tree / "lib", tree / "share") if folder.exists()]
    closed = next(filter(None, (first_closed_folder(account, folder) for folder in needed)), None)
    if closed is None:
        return binaries
    if not (tree / "share").is_dir():
        raise BinariesUnreadable(account=account.name, folder=closed)
    return _shared_copy(binaries, parent)


def _shared_copy(binaries: Binaries, parent: Path) -> Binaries:
    tree = binaries.tree
    target = parent / f"binaries-{binaries.version}"
    copied = replace(binaries, folder=target / tree.parent.name / tree.name / "bin")
    with one_at_a_time(parent):
        if target.exists():
            return copied
        for left_over in parent.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left_over)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
        try:
            _copy_tree(tree, unfinished / tree.parent.name / tree.name)
            # The wheel's programs find these by their rpath, $ORIGIN/../../../<package>.libs.
            libraries = tree.parent.with_name(f"{tree.parent.name}.libs")
            if libraries.is_dir():
                _copy_tree(libraries, unfinished / libraries.name)
            _open_to_all(unfinished)
            unfinished.rename(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return copied


def _copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.a", "include", "__pycache__"))


def _open_to_all(top: Path) -> None:
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for file in (Path(folder) / name for name in files):
            file.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
