"""Runs a soak: the suite of a data folder, the actors that work on it, and samples of its memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic

import httpx

from spotthebot.kit.processes.spec import Event
from spotthebot.local.loadtest.actors import Actors
from spotthebot.local.loadtest.made_data import open_campaign, prepare
from spotthebot.local.loadtest.plan import BOUNDS_MS, LoadPlan
from spotthebot.local.loadtest.record import Record, mebibytes_of, percentile, processor_seconds, time_between
from spotthebot.local.loadtest.result import LoadResult, Memory, Requests
from spotthebot.local.postgres.health import SERVER
from spotthebot.local.progress import Step, Steps
from spotthebot.local.runtime.bootstrap import Bootstrap
from spotthebot.local.runtime.data_folder import KEY_OF_ADMIN, DataFolder, State
from spotthebot.local.runtime.local_settings import local_settings
from spotthebot.local.runtime.ports import bound_addresses
from spotthebot.local.runtime.running_suite import running_suite
from spotthebot.local.runtime.session import Clients

_REQUEST_SECONDS = 60
_FAULTS = {"died", "hung"}
HttpClients = dict[str, httpx.AsyncClient]


@dataclass
class Samples:
    """Measurements of processes: processor time, and memory as pairs of minutes since the warm-up and MiB."""

    memory: dict[str, list[tuple[float, float]]]
    processor_before: dict[str, float]
    processor_after: dict[str, float]


async def run_load(folder: DataFolder, prepared: Bootstrap, plan: LoadPlan, steps: Steps) -> LoadResult:
    """Run all services and workers of a data folder under the load, and return the measurements."""
    events: list[Event] = []
    with local_settings(folder) as local, bound_addresses(None) as addresses:
        running = running_suite(
            folder, prepared, addresses, local, on_line=lambda _name, _line: None, on_event=events.append
        )
        async with running as state:
            urls = {service.name: service.url for service in state.services}
            admin, frontend = folder.secret(KEY_OF_ADMIN), folder.secret("key/annotation")
            result = await load(urls, admin, frontend, plan, steps, pids=_pids(state, prepared))
            restarts = sum(event.kind in _FAULTS for event in events)
    return replace(result, restarts=restarts)


async def load(
    urls: Mapping[str, str], admin: str, frontend: str, plan: LoadPlan, steps: Steps, *, pids: Mapping[str, int]
) -> LoadResult:
    """Run the load on running services; `admin` and `frontend` are API keys; `pids` are the processes to measure."""
    record, samples = Record(), Samples({}, {}, {})
    name = f"loadtest-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    async with Clients(urls, admin_key=admin, frontend_key=frontend) as clients:
        data = await prepare(clients, plan, name, steps)
        async with clients_of(urls, admin=admin, frontend=frontend) as http:
            actors = Actors(plan, data, record, http, partial(open_campaign, clients, plan, name, data.collection))
            await _soak(plan, actors, record, samples, pids, steps)
        kept = sum([(await clients.annotation.get_campaign(each)).annotations for each in actors.campaigns])
    for _ in range(actors.labels - kept):
        record.fault("a label that was acknowledged is gone")
    requests = tuple(
        Requests(kind, len(times), percentile(times, 0.5), percentile(times, 0.99), max(times))
        for kind in BOUNDS_MS
        if (times := record.milliseconds.get(kind))
    )
    memory = tuple(_memory(name, taken) for name, taken in samples.memory.items())
    processor = time_between(samples.processor_before, samples.processor_after)
    return LoadResult(plan, requests, memory, processor, dict(record.faults), actors.labels, actors.turns, 0)


async def _soak(
    plan: LoadPlan, actors: Actors, record: Record, samples: Samples, pids: Mapping[str, int], steps: Steps
) -> None:
    warm = monotonic() + plan.warm_up_seconds
    with steps.step("Seconds of load", total=round(plan.warm_up_seconds + plan.seconds)) as step:
        sampling = asyncio.create_task(_sample(pids, samples, warm, plan.sample_seconds, step, record.clear))
        try:
            await actors.work(warm + plan.seconds)
        finally:
            sampling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sampling
            samples.processor_after = await asyncio.to_thread(processor_seconds, pids)


def _memory(name: str, taken: list[tuple[float, float]]) -> Memory:
    samples = tuple((round(at, 2), round(mib, 1)) for at, mib in taken)
    return Memory(name, taken[0][1], taken[-1][1], samples)


async def _sample(
    pids: Mapping[str, int], samples: Samples, warm: float, every: float, step: Step, warmed_up: Callable[[], None]
) -> None:
    """Measure the memory of all processes repeatedly, beginning at the end of the warm-up."""
    began, is_warm = monotonic(), False
    while True:
        await asyncio.sleep(min(every, max(0.01, warm - monotonic())) if not is_warm else every)
        step.at(round(monotonic() - began))
        if monotonic() < warm:
            continue
        if not is_warm:
            is_warm = True
            warmed_up()
            samples.processor_before = await asyncio.to_thread(processor_seconds, pids)
        at = (monotonic() - warm) / 60
        for name, mib in (await asyncio.to_thread(mebibytes_of, pids)).items():
            samples.memory.setdefault(name, []).append((at, mib))


def _pids(state: State, prepared: Bootstrap) -> dict[str, int]:
    found = {service.name: service.pid for service in state.services if service.pid is not None}
    found |= {worker.name: worker.pid for worker in state.workers if worker.pid is not None}
    return found | ({SERVER: prepared.cluster.pid} if prepared.cluster is not None else {})


@asynccontextmanager
async def clients_of(
    urls: Mapping[str, str], *, admin: str, frontend: str
) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Yield HTTP clients without retries, by name: for annotators, people who chat, the operator and readers."""
    keys = {"annotation": ("annotation", frontend), "chats": ("conversations", frontend)}
    keys |= {"conversations": ("conversations", admin)}
    limits = httpx.Limits(max_connections=None)
    async with contextlib.AsyncExitStack() as stack:
        found = {}
        for name, (service, key) in keys.items():
            headers = {"Authorization": f"Bearer {key}"}
            found[name] = await stack.enter_async_context(
                httpx.AsyncClient(
                    base_url=urls[service], headers=headers, timeout=_REQUEST_SECONDS, trust_env=False, limits=limits
                )
            )
        found["web"] = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=urls["web"],
                headers={"Sec-Fetch-Site": "same-origin"},
                timeout=_REQUEST_SECONDS,
                trust_env=False,
            )
        )
        (await found["web"].post("/sign-in", data={"key": admin}, follow_redirects=True)).raise_for_status()
        yield found
