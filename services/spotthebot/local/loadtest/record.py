"""The measurements of a soak: the times of each kind of request, the faults, the processor's load, and memory.

Memory is the anonymous memory of processes (Pss_Anon of Linux, swapped or not), children included: memory that the
process allocated and only it can free. Pages shared by forks are divided among them. Files are excluded, because the
system drops them when it needs room. Shared memory is excluded, because its size is fixed. PostgreSQL's shared buffers
would look like growth while they fill. A count of private pages (USS) would include shared pages that only one process
has touched so far.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

import httpx
import psutil

from spotthebot.local.loadtest.families import families

_KEPT_FAULTS = 20
_REFUSED_FROM = 400
_FAULTY_FROM = 500
_MEBIBYTE = 1024 * 1024
_ANONYMOUS: Final = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+) kB$", re.MULTILINE)
LOAD: Final = "the load itself"
"""The process in which everybody is simulated, which watches over the others as well."""


class RequestFailed(Exception):
    """A request got an unexpected answer, which the record has counted."""


class Record:
    """Times and faults by the kind of request, without the warm-up."""

    def __init__(self) -> None:
        self.milliseconds: defaultdict[str, list[float]] = defaultdict(list)
        self.faults: Counter[str] = Counter()
        """How often, by what went wrong; at most a few kinds of it, the rest as `others`."""

    def clear(self) -> None:
        """Remove all times and faults of the warm-up."""
        self.milliseconds.clear()
        self.faults.clear()

    def fault(self, text: str) -> None:
        """Count a fault."""
        self.faults[text if text in self.faults or len(self.faults) < _KEPT_FAULTS else "others"] += 1

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Record the duration of the block, if it ends without an error."""
        began = perf_counter()
        yield
        self.milliseconds[kind].append((perf_counter() - began) * 1000)

    async def send(
        self,
        client: httpx.AsyncClient,
        kind: str,
        method: str,
        path: str,
        *,
        refusals: Sequence[int] = (),
        **more: object,
    ) -> httpx.Response:
        """Make a request and record its time; an error other than `refusals` is a fault. Raises RequestFailed."""
        began = perf_counter()
        try:
            answer = await client.request(method, path, **more)  # type: ignore[arg-type] # httpx's own
        except httpx.HTTPError as error:
            self.fault(f"{kind}: {type(error).__name__}")
            raise RequestFailed from error
        self.milliseconds[kind].append((perf_counter() - began) * 1000)
        if answer.status_code >= _REFUSED_FROM and answer.status_code not in refusals:
            self.fault(f"{kind}: {answer.status_code} {problem_of(answer)}")
            raise RequestFailed
        return answer


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def problem_of(answer: httpx.Response) -> str:
    """Return the last part of the `type` of a problem in an answer, or else the answer's reason phrase."""
    if answer.status_code < _FAULTY_FROM and answer.headers.get("Content-Type") == "application/problem+json":
        return str(answer.json()["type"]).rpartition(":")[2]
    return answer.reason_phrase


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


def processor_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the processor time so far of each process with its children, and of this process, which makes the load.

    It is 0 for a process that has ended.
    """
    found = {LOAD: process_time()}
    for name, family in families(pids).items():
        found[name] = 0.0
        for each in family:
            with suppress(psutil.Error):
                times = each.cpu_times()
                # The time of children that ended and were waited for is part of their parent's.
                found[name] += times.user + times.system + times.children_user + times.children_system
    return found


def time_between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the processor seconds of each process between two readings."""
    return {name: max(0.0, after[name] - seconds) for name, seconds in before.items()}
