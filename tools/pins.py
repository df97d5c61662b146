"""`stb pins`: renew requirements.txt, the hashes of all that `./stb` and the images install, and how much that is."""

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

from spotthebot.cli.application import main
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.errors import Unavailable
from spotthebot.local.progress import screen
from tools import ROOT
from tools.downloads import DOWNLOADS_FILE, Lock, downloads_text

EXTRAS = ("suite", "cli", *SERVICE_NAMES, "tracing")
BUILD = "build"
_HEADER = """\
# What ./stb and the images install: one line a package, with the hashes of all its files and, behind #, what for.
# Made by `./stb pins` from pyproject.toml and constraints.txt. Install one part:
#   grep -E '# .*\\bsuite\\b' requirements.txt > part.txt && pip install --require-hashes --no-deps -r part.txt
"""
_BUILD_TOOLS = ("setuptools", "pip")
"""Beside the project's own build backend: for packages that are published as source alone, and to say how far it is."""


class UvMissing(Unavailable):
    """There is no `uv` here, which resolves for all platforms: `pip install uv`."""


class PinsUnsolvable(Unavailable):
    """uv found no set of versions for '{part}', and said '{reason}'."""


def pins() -> None:
    """Renew requirements.txt, the hashes of all that is installed, and the sizes of its downloads."""
    project = ROOT / "pyproject.toml"
    parts: dict[str, list[str]] = defaultdict(list)
    for extra in EXTRAS:
        for line in _resolve(extra, [str(project), "--extra", extra]):
            parts[line].append(extra)
    backend = tomllib.loads(project.read_text())["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "tools.in"
        tools.write_text("\n".join([*backend, *_BUILD_TOOLS]))
        for line in _resolve(BUILD, [str(tools)]):
            parts[line].append(BUILD)
        build = _lock(BUILD, [str(tools)])
    lines = [f"{line}  # {' '.join(sorted(used))}" for line, used in sorted(parts.items())]
    (ROOT / "requirements.txt").write_text(_HEADER + "\n".join(lines) + "\n")
    locks = {part: [_lock(part, [str(project), "--extra", part])] for part in ("suite", "docs", "models", "dev")}
    locks["suite"].append(build)
    (ROOT / DOWNLOADS_FILE).write_text(downloads_text(ROOT, locks))
    screen.print(f"requirements.txt: {len(lines)} packages")


def _resolve(part: str, sources: list[str]) -> list[str]:
    """Return the packages of a part for all platforms and Pythons, each with its hashes in one line."""
    said = _compile(part, ["--generate-hashes", "--no-annotate", "--no-header", *sources])
    return [" ".join(line.split()) for line in re.sub(r" \\\n\s+", " ", said).split("\n") if line.strip()]


def _lock(part: str, sources: list[str]) -> Lock:
    """Return the packages of a part for all platforms and Pythons, with the sizes of their files."""
    return tomllib.loads(_compile(part, ["--format", "pylock.toml", *sources]))


def _compile(part: str, arguments: list[str]) -> str:
    uv = shutil.which("uv")
    if uv is None:
        raise UvMissing
    options = ["--universal", "--python-version", "3.11", "--constraints", str(ROOT / "constraints.txt")]
    done = subprocess.run(  # noqa: S603 - a program that was looked up, with our own arguments
        [uv, "pip", "compile", "--quiet", *options, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        raise PinsUnsolvable(part=part, reason=" ".join(done.stderr.split())[-500:])
    return done.stdout


if __name__ == "__main__":
    main("pins")
