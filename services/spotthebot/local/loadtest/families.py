"""Processes with their descendants."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import psutil


def families(pids: Mapping[str, int]) -> dict[str, list[psutil.Process]]:
    """Return each process with its descendants; empty if it has ended. The system's processes are listed only once."""
    children: defaultdict[int, list[psutil.Process]] = defaultdict(list)
    known: dict[int, psutil.Process] = {}
    for process in psutil.process_iter(["ppid"]):
        known[process.pid] = process
        children[process.info["ppid"]].append(process)

    def members(process: psutil.Process) -> Iterator[psutil.Process]:
        yield process
        for child in children[process.pid]:
            yield from members(child)

    return {name: [*members(known[pid])] if pid in known else [] for name, pid in pids.items()}
