"""Restarts processes when the Python files of their service change; checks modification times twice a second."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from spotthebot import contracts
from spotthebot.kit.processes.supervisor import Supervisor

_LOOK_EVERY_SECONDS = 0.5
_SERVICES = Path(__file__).parents[2]
_SHARED = Path(contracts.__file__).parents[1]

Files = Mapping[Path, int]


def watched_folders(services: Iterable[str]) -> dict[str, tuple[Path, ...]]:
    """Return the folders that each service imports: the service's package, and the shared packages."""
    return {name: (_SERVICES / name, _SHARED) for name in services}


async def restart_on_change(
    supervisor: Supervisor, folders: Mapping[str, Sequence[Path]], on_change: Callable[[str, Path], None]
) -> None:
    """Watch until cancelled; `on_change` gets a service and a changed file before its processes restart."""
    known = {name: await asyncio.to_thread(_read_times, paths) for name, paths in folders.items()}
    while True:
        await asyncio.sleep(_LOOK_EVERY_SECONDS)
        for name, paths in folders.items():
            times = await asyncio.to_thread(_read_times, paths)
            if times != known[name]:
                changed = _changed_file(known[name], times)
                known[name] = times
                on_change(name, changed)
                await supervisor.restart([name, f"{name}-worker"])


def _read_times(folders: Iterable[Path]) -> Files:
    times = {}
    for folder in folders:
        for file in folder.rglob("*.py"):
            try:
                times[file] = file.stat().st_mtime_ns
            except FileNotFoundError:  # an editor replaces a file by renaming another
                continue
    return times


def _changed_file(before: Files, after: Files) -> Path:
    return next(path for path in (*after, *before) if before.get(path) != after.get(path))
