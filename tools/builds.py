"""Builds the wheel and the sdist of a tree of sources. The same sources and time make the same bytes."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

from spotthebot.kit.errors import Unavailable


class ProgramFailed(Unavailable):
    """{program} failed: {reason}"""  # noqa: D400 - ends as the reason does


def run(*command: str | Path, folder: Path, stdin: str | None = None, **environment: str) -> str:
    """Run a program in `folder` and return what it printed; raises ProgramFailed with the end of its errors."""
    words = [str(each) for each in command]
    try:
        done = subprocess.run(  # noqa: S603 - git, ssh-keygen, npm and our own modules, with our own arguments
            words, cwd=folder, env=os.environ | environment, input=stdin, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise ProgramFailed(program=words[0], reason="it is not installed here.") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())
        raise ProgramFailed(program=" ".join(words[:3]), reason=said[-500:] or f"exit code {done.returncode}.")
    return done.stdout


def exported(repository: Path, commit: str, folder: Path) -> Path:
    """Write the files of a commit, and no others, to `folder`; return it."""
    archive = subprocess.run(  # noqa: S603 - as above
        ["git", "archive", "--format=tar", commit],  # noqa: S607 - of the user's system
        cwd=repository,
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def build(sources: Path, folder: Path, *, epoch: int) -> tuple[Path, Path]:
    """Build into `folder`; return wheel and sdist. `epoch` is the time of their files, in seconds since 1970."""
    hatch = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    run(*hatch, folder=sources, SOURCE_DATE_EPOCH=str(epoch))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist
