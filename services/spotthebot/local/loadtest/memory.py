"""How much memory processes have.

Memory is anonymous memory (Pss_Anon of Linux, swapped or not), that of a process's children included: what the process
made and only it can give back. Pages that forks share are divided among them. Not counted are files, which the system
drops when it needs room, and shared memory, whose size is set: PostgreSQL's buffers look like growth while they fill,
and what counts private pages (USS) counts those of them that one process has touched so far.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from spotthebot.local.loadtest.families import families

_MEBIBYTE = 1024 * 1024
_ANONYMOUS: Final = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+) kB$", re.MULTILINE)


def mebibytes_of(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the anonymous memory of each process with its children; one that is gone has none."""
    found = {}
    for name, family in families(pids).items():
        found[name] = 0.0
        for each in family:
            with suppress(psutil.Error, OSError):
                found[name] += _anonymous(each) / _MEBIBYTE
    return found


def _anonymous(process: psutil.Process) -> float:
    try:
        rolled = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except FileNotFoundError:  # gone, or not on Linux
        return float(process.memory_full_info().uss)
    return 1024.0 * sum(int(kibibytes) for kibibytes in _ANONYMOUS.findall(rolled))
