"""The release before this one, from git, to compare with."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_REVISIONS = ":(glob)**/migrations/*_[0-9]*.py"


@cache
def previous_revision() -> str | None:
    """Return the commit of the last release: the newest tag before this commit.

    Before the first tag, it is the commit before the one that last added a revision, from there on a database has
    something to gain; where revisions that it had are gone, no database comes from there, and it is the present commit.
    None where git does not know it, as in a shallow clone or an unpacked archive, also one that lies in another
    project's repository.
    """
    if _git("rev-parse", "--is-shallow-repository") != "false" or _git("rev-parse", "--show-prefix"):
        return None
    if tag := _git("describe", "--tags", "--abbrev=0", "HEAD^"):
        return _git("rev-parse", f"{tag}^{{commit}}")
    last = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", _REVISIONS)
    before = _git("rev-parse", "--verify", f"{last}^") if last else None
    if before and all((ROOT / path).exists() for path in files_at(before, "migrations/*_[0-9]*.py")):
        return before
    return _git("rev-parse", "HEAD")


def require_previous_revision() -> str:
    """Return the commit of the last release; skips the test where there is none here."""
    revision = previous_revision()
    if revision is None:
        pytest.skip("the last release is not here: in a clone that is shallow, git fetch --unshallow --tags brings it")
    return revision


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
