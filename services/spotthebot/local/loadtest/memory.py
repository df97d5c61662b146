"""Measures the memory of processes.

It is anonymous memory (Pss_Anon of Linux, swapped or not), children included: memory that the process allocated and
only it can free. Pages shared by forks are divided among them. Files are excluded, because the system drops them when
it needs room. Shared memory is excluded, because its size is fixed. PostgreSQL's shared buffers would look like growth
while they fill. A count of private pages (USS) would include shared pages that only one process has touched so far.
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
    """Return the anonymous memory of each process with its children; 0 for a process that has ended."""
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
