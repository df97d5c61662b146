"""The release before this one, from git: its sources, to run and to compare with."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UPGRADED = ("bots", "conversations", "annotation")
"""The services whose upgrade is tested."""
_KINDS = ("pre", "post")


@cache
def previous_revision() -> str | None:
    """Return the commit of the last release: the newest tag before this commit.

    Before the first tag, it is the commit before the one that last added a migration to a service whose upgrade is
    tested: from there on a database has something to gain. None where git does not know it, as in a shallow clone or an
    unpacked archive, also one that lies in another project's repository.
    """
    if _git("rev-parse", "--is-shallow-repository") != "false" or _git("rev-parse", "--show-prefix"):
        return None
    if tag := _git("describe", "--tags", "--abbrev=0", "HEAD^"):
        return _git("rev-parse", f"{tag}^{{commit}}")
    migrations = [f"services/spotthebot/{service}/migrations/*_{kind}_*.py" for service in UPGRADED for kind in _KINDS]
    last = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", *migrations)
    return _git("rev-parse", "--verify", f"{last}^") if last else None


def require_previous_revision() -> str:
    """Return the commit of the last release; skips the test where there is none here."""
    revision = previous_revision()
    if revision is None:
        pytest.skip("the last release is not here: in a clone that is shallow, git fetch --unshallow --tags brings it")
    return revision


def unpack(revision: str, folder: Path) -> list[Path]:
    """Unpack the sources of a revision; return the folders to import from."""
    command = ["git", "archive", revision, "services", "shared"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)  # noqa: S607 - the system's
    assert archive.returncode == 0
    return [folder / "services", folder / "shared"]


def files_at(revision: str, pattern: str) -> list[str]:
    """Return the paths of a revision that match a pattern of git's."""
    listed = _git("ls-tree", "-r", "--name-only", revision) or ""
    return [path for path in listed.splitlines() if Path(path).match(pattern)]


def text_at(revision: str, path: str) -> str:
    """Return a file as it was."""
    return _git("show", f"{revision}:{path}") or ""


def _git(*arguments: str) -> str | None:
    """Return what git prints; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607 - as above
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
