"""Computed results, which are kept until the data change."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from uuid import UUID

from spotthebot.analytics.kept_results import store as results_store
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads, SharedTasks
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.kit.database.sessions import Database

Compute = Callable[[], Awaitable[bytes]]


class KeptResults:
    """Keeps each result of a revision of a subject: a campaign or a study. Equal requests share one computation.

    If all callers of a waiting computation have left, it is not started.
    """

    def __init__(self, database: Database, threads: ComputeThreads) -> None:
        self._database = database
        self._underway = SharedTasks[bytes, bytes](threads)
        sources_sha256()  # now, while the files are those in use: an update may replace them under a running service

    async def find(
        self, subject_id: UUID, revision: str, names: Collection[str], parameters: Mapping[str, object]
    ) -> dict[str, bytes]:
        """Return the kept results of a revision by their names. A result that is not kept is left out."""
        keys = {name: _key(subject_id, revision, name, parameters) for name in names}
        async with self._database.read() as reading:
            kept = await results_store.find_results(reading, keys.values())
        return {name: kept[key] for name, key in keys.items() if key in kept}

    async def get(
        self, subject_id: UUID, revision: str, name: str, parameters: Mapping[str, object], compute: Compute
    ) -> bytes:
        """Return a kept result, or compute it now."""
        kept = await self.find(subject_id, revision, [name], parameters)
        return kept[name] if kept else await self.compute(subject_id, revision, name, parameters, compute)

    async def compute(
        self, subject_id: UUID, revision: str, name: str, parameters: Mapping[str, object], compute: Compute
    ) -> bytes:
        """Compute a result that `find` did not find, and keep it."""
        key = _key(subject_id, revision, name, parameters)

        async def computed() -> bytes:
            body = await compute()
            async with self._database.write() as session:
                return await results_store.put_result(session, key, subject_id, revision, body)

        return await self._underway.get(key, computed)


def parameters_of(request: ParametersIn) -> dict[str, object]:
    """Return the parameters that a result depends on, without those that say how it is sent."""
    return request.model_dump(include=set(ParametersIn.model_fields))


def _key(subject_id: UUID, revision: str, name: str, parameters: Mapping[str, object]) -> bytes:
    depends_on = [str(subject_id), revision, name, parameters, version("spotthebot"), sources_sha256()]
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).digest()


@cache
def sources_sha256() -> str:
    """Return a hash of the code that computes results. After a correction of the code, cached results are not used."""
    digest = hashlib.sha256()
    for source in sources():
        digest.update(source.read_bytes())
    return digest.hexdigest()


def sources() -> Iterator[Traversable]:
    """Yield the files of the code that computes results: the domains of all nouns, the clients and the statistics."""
    for folder in _in_order(files("spotthebot.analytics")):
        if folder.name in {"clients", "stats"}:
            yield from _sources_in(folder)
        elif folder.is_dir():
            for part in _in_order(folder):
                if part.name in {"domain", "domain.py"}:
                    yield from _sources_in(part)
    yield from _sources_in(files("spotthebot.statistics"))


def _sources_in(part: Traversable) -> Iterator[Traversable]:
    if part.is_dir():
        for entry in _in_order(part):
            yield from _sources_in(entry)
    elif part.name.endswith(".py"):
        yield part


def _in_order(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda each: each.name)
