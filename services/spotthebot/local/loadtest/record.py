"""The requests of a soak: the times of each kind, and the faults."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

import httpx

_KEPT_FAULTS = 20
_REFUSED_FROM = 400
_FAULTY_FROM = 500


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
