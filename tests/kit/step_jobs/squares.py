"""A tiny service with step jobs: work in steps that are squares."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from spotthebot.kit.database.sessions import Database, schema_metadata
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import Prepare, PreparedWork, StepJobs
from spotthebot.kit.step_jobs.tables import step_job_tables

SCHEMA = "annotation"  # a schema with job tables and without step jobs of its own
METADATA = schema_metadata(SCHEMA)
TABLES = step_job_tables(METADATA)


def _statements(table: Table) -> list[DDLElement]:
    return [CreateTable(table), *(CreateIndex(index) for index in table.indexes)]


_DIALECT = postgresql.dialect()
DDL = ";\n".join(
    str(statement.compile(dialect=_DIALECT)) for table in METADATA.sorted_tables for statement in _statements(table)
)


class PeerIsAway(Unavailable):
    """The peer does not answer."""


@dataclass
class Squares:
    """Four steps, each a square; `before_step` is awaited before a step is computed."""

    factor: int = 1
    steps: int = 4
    computed: list[int] = field(default_factory=list)
    before_step: Callable[[int], Awaitable[None]] | None = None

    async def compute(self, step: int) -> Mapping[str, Any]:
        if self.before_step is not None:
            await self.before_step(step)
        self.computed.append(step)
        return {"square": self.factor * step**2}

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return {"squares": [result["square"] for result in results]}


@dataclass
class Service:
    """A tiny service with step jobs."""

    url: str
    database: Database
    jobs: StepJobs = field(default_factory=lambda: StepJobs(TABLES, schema=SCHEMA, task="square", retried=[PeerIsAway]))

    async def start(self, subject_id: UUID | None = None) -> UUID:
        queue = Jobs(self.url, SCHEMA)
        async with self.database.write() as session:
            return await self.jobs.start(session, queue, "squares", {"n": 4}, subject_id=subject_id, version="1")

    async def get(self, job_id: UUID) -> StepJob:
        async with self.database.read() as session:
            job = await self.jobs.store.find_job(session, job_id)
        assert job is not None
        return job

    async def run(self, job_id: UUID, work: Squares, **more: Any) -> None:
        await self.jobs.run(self.database, job_id, prepares(work, **more))

    async def cancel(self, job_id: UUID) -> None:
        async with self.database.write() as session:
            await self.jobs.store.cancel_job(session, job_id)


def prepares(work: Squares, **more: Any) -> Prepare:
    async def prepare(_job: StepJob) -> PreparedWork:
        return PreparedWork(work, **more)

    return prepare
