"""The version of the project: `pyproject.toml` has it, and the other places are written from there by a release."""

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Final

from packaging.version import Version

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.errors import Conflict, Invalid

PLACES: Final = {
    "pyproject.toml": ('version = "{}"',),
    "CITATION.cff": ("version: {}",),
    "docker/service.Dockerfile": ("ARG VERSION={}",),
    "deploy/helm/spotthebot/Chart.yaml": ("\nversion: {}", "appVersion: {}"),
    "deploy/helm/spotthebot/values.yaml": ("spotthebot-triton:{}",),
    "deploy/helm/values/campaign.yaml": ('tag: "{}"',),
    **{f"openapi/{name}.json": ('"version": "{}"',) for name in SERVICE_NAMES},
}
"""Files that state the version, and the text around it, which each has once."""
_HEADINGS: Final = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
_UNRELEASED: Final = "## [Unreleased]\n"


class NotNewer(Invalid):
    """{version} is no version above {previous}, in the form MAJOR.MINOR.PATCH."""


class PlaceNotFound(Conflict):
    """{file} does not state the version {version} once, as '{text}'."""


class NothingToRelease(Conflict):
    """CHANGELOG.md has no entries under [Unreleased]."""


class UnknownHeading(Conflict):
    """CHANGELOG.md has '{heading}' under [Unreleased], which is none of Keep a Changelog's headings."""


def version_of(root: Path) -> str:
    """Return the version in `pyproject.toml`."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return version


def check_newer(previous: str, version: str) -> None:
    """Raise NotNewer unless `version` can follow `previous`."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or Version(version) <= Version(previous):
        raise NotNewer(version=version, previous=previous)


def set_version(root: Path, previous: str, version: str) -> None:
    """Write a new version into every place; raises PlaceNotFound."""
    for file, forms in PLACES.items():
        path = root / file
        text = path.read_text()
        for form in forms:
            stated = form.format(previous)
            if text.count(stated) != 1:
                raise PlaceNotFound(file=file, version=previous, text=stated.strip())
            text = text.replace(stated, form.format(version))
        path.write_text(text)


def release_changelog(text: str, version: str, day: date) -> str:
    """Return the changelog with the entries of [Unreleased] under the version and its day.

    Raises NothingToRelease, UnknownHeading.
    """
    before, _, after = text.partition(_UNRELEASED)
    entries = re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]
    if not re.search(r"^- ", entries, re.MULTILINE):
        raise NothingToRelease
    for heading in re.findall(r"^### (.+)$", entries, re.MULTILINE):
        if heading not in _HEADINGS:
            raise UnknownHeading(heading=heading)
    return f"{before}{_UNRELEASED}\n## [{version}] - {day}\n{after}"
