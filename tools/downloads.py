"""How much `./stb` downloads, by machine and Python: added up from the sizes that the package index states."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

DOWNLOADS_FILE: Final = Path("tools", "downloads.json")
"""From a clone's root: made by `./stb pins`, read by the front door."""
_PINS = ("requirements.txt", "constraints.txt")
_PYTHONS: Final = ((3, 11), (3, 12), (3, 13))
_MACHINES: Final = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"))
_NEWEST_GLIBC, _OLDEST_GLIBC, _MACOS = 39, 5, (14, 0)
_OLDER_NAMES: Final = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
"""What manylinux platforms were called before they were named by their glibc."""
Lock = Mapping[str, Any]


def downloads_text(root: Path, locks: Mapping[str, Iterable[Lock]]) -> str:
    """Return as JSON how many packages and bytes each part adds to those before it, by machine and Python.

    `locks` are each part's resolutions for all platforms, as documents of PEP 751. `pins` is the digest of the files
    that they were made from (`pins_digest`). A part that a machine can't install is left out there.
    """
    described: dict[str, Any] = {"pins": pins_digest(root)}
    for part in locks:
        described[part] = {f"{system}-{machine}": {} for system, machine in _MACHINES}
    for system, machine in _MACHINES:
        for python in _PYTHONS:
            before: set[str] = set()
            for part, found in locks.items():
                sizes = {name: size for lock in found for name, size in sizes_of(lock, system, machine, python)}
                added = [size for name, size in sizes.items() if name not in before]
                if None not in sizes.values():
                    counted = {"packages": len(added), "bytes": sum(filter(None, added))}
                    described[part][f"{system}-{machine}"][f"{python[0]}.{python[1]}"] = counted
                before |= sizes.keys()
    return json.dumps(described, indent=1) + "\n"


def pins_digest(root: Path) -> str:
    """Return a digest of the files that say what is installed."""
    return hashlib.sha256(b"".join((root / name).read_bytes() for name in _PINS)).hexdigest()


def sizes_of(lock: Lock, system: str, machine: str, python: tuple[int, int]) -> Iterator[tuple[str, int | None]]:
    """Yield each package that a machine needs, and the bytes of the file that pip takes there; None: there is none."""
    environment = _environment(system, machine, python)
    ranks = {tag: rank for rank, tag in enumerate(_tags(system, machine, python))}

    def rank(wheel: Mapping[str, Any]) -> int:
        _, _, _, tags = parse_wheel_filename(wheel["url"].rpartition("/")[2])
        return min(ranks.get(tag, len(ranks)) for tag in tags)

    for package in lock["packages"]:
        if "marker" in package and not Marker(package["marker"]).evaluate(environment):
            continue
        wheels = [wheel for wheel in package.get("wheels", ()) if rank(wheel) < len(ranks)]
        file = min(wheels, key=rank) if wheels else package.get("sdist")
        yield package["name"], file and file["size"]


def _environment(system: str, machine: str, python: tuple[int, int]) -> dict[str, str]:
    version = f"{python[0]}.{python[1]}"
    return {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_system": system.capitalize(),
        "python_full_version": f"{version}.9",
        "python_version": version,
        "sys_platform": system,
    }


def _tags(system: str, machine: str, python: tuple[int, int]) -> Iterator[Tag]:
    """Yield what wheels fit a machine, best first."""
    platforms = list(mac_platforms(_MACOS, machine) if system == "darwin" else _linux_platforms(machine))
    yield from cpython_tags(python, platforms=platforms)
    yield from compatible_tags(python, f"cp{python[0]}{python[1]}", platforms)


def _linux_platforms(machine: str) -> Iterator[str]:
    for glibc in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1):
        yield f"manylinux_2_{glibc}_{machine}"
        if glibc in _OLDER_NAMES:
            yield f"{_OLDER_NAMES[glibc]}_{machine}"
    yield f"linux_{machine}"
