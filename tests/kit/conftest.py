"""A small application on kit's edge, with a table of its own, to try what every service is given."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, cast
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import BaseModel, Field, SecretStr
from sqlalchemy import text
from starlette.responses import StreamingResponse

from spotthebot.bots.metadata import IDEMPOTENCY
from spotthebot.clients import Retries
from spotthebot.clients.client import AsyncClient, ServiceOperations
from spotthebot.clients.operations import Call, operation
from spotthebot.clients.streams import Ndjson
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.errors import (
    Conflict,
    FieldError,
    Forbidden,
    Invalid,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
    UpstreamFailed,
)
from spotthebot.kit.ids import new_id, new_ids
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.idempotency import IdempotentRoute, idempotent
from spotthebot.kit.web.database.sessions import Reading, Writing, get_database
from tests.factories.clock import MovableClock, set_clock
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.running_suite import Keys, served
from tests.factories.savepoints import SavepointDatabase, rolled_back

_TABLE = """
CREATE TABLE bots.things (
    id uuid PRIMARY KEY, name text NOT NULL, twin text,
    CONSTRAINT twins UNIQUE (twin) DEFERRABLE INITIALLY DEFERRED
);
CREATE FUNCTION bots.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON bots.things DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (NEW.name = 'slow') EXECUTE FUNCTION bots.dawdle();
"""
"""Two ways for trouble to come only at commit: a constraint that fails then, and a trigger that takes its time."""
FAMILIES = {
    "invalid": Invalid(fields=(FieldError("/a/0", "is odd"),)),
    "unauthenticated": Unauthenticated(),
    "forbidden": Forbidden(),
    "missing": NotFound(),
    "conflict": Conflict(),
    "many": TooMany(retry_after_seconds=7),
    "unavailable": Unavailable(),
    "upstream": UpstreamFailed(),
}

admins = allow("admin")
Admin = Annotated[Principal, Depends(admins)]
Creator = Annotated[Principal, Depends(idempotent(admins))]
router = APIRouter(route_class=IdempotentRoute)


class ThingIn(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    twin: str | None = None
    sizes: list[int] = []
    by_place: dict[str, int] = {}


class ThingOut(BaseModel):
    id: UUID
    name: str


class ThingsOperations(ServiceOperations):
    """The operations of this application that tests call as another service would."""

    peer = "things"

    @operation
    def get_internal(self) -> Call[None]:
        """Ask for what is not there."""
        return Call(type(None), "GET", "/internal")

    @operation
    def stream_things(self) -> Ndjson[ThingOut]:
        """Stream all things."""
        return Ndjson(ThingOut, "/things/stream")

    @operation
    def stream_breaking_things(self) -> Ndjson[ThingOut]:
        """Stream all things; at one that is called `broken` the application fails."""
        return Ndjson(ThingOut, "/things/stream/breaking")


class AsyncThings(ThingsOperations, AsyncClient):
    """The client of this application."""


async def _add(session: Writing, thing: ThingIn) -> ThingOut:
    row = ThingOut(id=new_id(), name=thing.name)
    statement = text("INSERT INTO bots.things VALUES (:id, :name, :twin)")
    await session.execute(statement, {"id": row.id, "name": row.name, "twin": thing.twin})
    return row


@router.post("/things", status_code=201)
async def create(session: Writing, _caller: Creator, thing: ThingIn) -> ThingOut:
    return await _add(session, thing)


@router.post("/things/raising", status_code=201)
async def create_and_raise(session: Writing, _caller: Creator, thing: ThingIn) -> ThingOut:
    await _add(session, thing)
    raise Conflict


@router.put("/things", status_code=201)
async def create_by_put(session: Writing, _caller: Creator, thing: ThingIn) -> ThingOut:
    return await _add(session, thing)


@router.post("/things/dry", status_code=201)
async def create_unless_dry(session: Writing, _caller: Creator, thing: ThingIn, *, dry: bool = False) -> ThingOut:
    return ThingOut(id=new_id(), name=thing.name) if dry else await _add(session, thing)


@router.post("/things/of/{owner}", status_code=201)
async def create_of(session: Writing, _caller: Creator, thing: ThingIn, owner: str) -> ThingOut:
    assert owner
    return await _add(session, thing)


@router.post("/things/while-reading")
async def write_while_reading(session: Reading, _caller: Admin, thing: ThingIn) -> ThingOut:
    return await _add(cast("WriteSession", session), thing)  # what PostgreSQL has to refuse


async def _writing_as_fastapi_would(request: Request) -> AsyncIterator[WriteSession]:
    async with (await get_database(request)).write() as session:
        yield session


@router.post("/things/late", status_code=201)
async def create_with_a_late_commit(
    session: Annotated[WriteSession, Depends(_writing_as_fastapi_would)], _caller: Admin, thing: ThingIn
) -> ThingOut:
    """Commits after the response: what the sessions of `kit` exist to avoid."""
    return await _add(session, thing)


@router.get("/things")
async def list_things(session: Reading, _caller: Admin, paging: Paging) -> Page[ThingOut]:
    rows = await _fetch(session, paging.after, paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row.id, to_out=lambda row: row)


@router.get("/things/stream", response_class=StreamingResponse)
async def stream_things(_caller: Admin, database: Annotated[Database, Depends(get_database)]) -> StreamingResponse:
    return stream(database, _fetch, key=lambda row: row.id, to_out=lambda row: row)


@router.get("/things/stream/breaking", response_class=StreamingResponse)
async def stream_breaking_things(
    _caller: Admin, database: Annotated[Database, Depends(get_database)]
) -> StreamingResponse:
    def to_out(row: ThingOut) -> ThingOut:
        if row.name == "broken":
            raise Conflict
        return row

    return stream(database, _fetch, key=lambda row: row.id, to_out=to_out)


async def _fetch(session: ReadSession, after: UUID | None, limit: int) -> list[ThingOut]:
    statement = text("SELECT id, name FROM bots.things WHERE id > :after ORDER BY id LIMIT :limit")
    rows = await session.execute(statement, {"after": after or UUID(int=0), "limit": limit})
    return [ThingOut(id=row.id, name=row.name) for row in rows]


@router.get("/failing/peer")
async def call_a_peer(_caller: Admin, url: str) -> None:
    async with AsyncThings(url, "stb_service_hunter2", retries=Retries(attempts=1)) as things:
        await things.get_internal()


@router.get("/failing/{family}")
async def fail(_caller: Admin, family: str) -> None:
    if family == "unforeseen":
        message = "the secret of the service"
        raise RuntimeError(message)
    raise FAMILIES[family]


@dataclass
class Edge:
    """The application, served; `rows` counts what is in its table."""

    app: FastAPI
    url: str
    keys: Keys
    owner_url: str

    def rows(self) -> int:
        """Count at once, in this thread: the server's loop stands still meanwhile."""
        with psycopg.connect(self.owner_url) as connection:
            return len(connection.execute("SELECT FROM bots.things").fetchall())

    def fill(self, names: Sequence[str]) -> None:
        rows = list(zip(new_ids(len(names)), names, strict=True))
        with psycopg.connect(self.owner_url) as connection:
            connection.cursor().executemany("INSERT INTO bots.things VALUES (%s, %s)", rows)

    async def client(self, role: str = "admin") -> httpx.AsyncClient:
        key = await self.keys.make(role)
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False, timeout=30)


@pytest.fixture
def database_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database of this test's own, with the table of things."""
    with databases.lend(schema="bots", more=_TABLE) as urls:
        yield urls


@pytest.fixture
async def access(shared_urls: DatabaseUrls) -> AsyncIterator[SavepointDatabase]:
    """Sessions on the schema of API keys, rolled back after the test."""
    async with rolled_back(shared_urls.owner["access"]) as database:
        yield database


@pytest.fixture
async def edge(database_urls: DatabaseUrls, keys: Keys) -> AsyncIterator[Edge]:
    settings = ServiceSettings(
        database_url=SecretStr(database_urls.app["bots"]),
        cors_origins=("https://frontend.example",),
        max_body_bytes=2048,
    )
    app = build_service("things", summary="", settings=settings, routers=[router], idempotency_table=IDEMPOTENCY)
    async with served(app, bind("127.0.0.1", 0)) as url:
        yield Edge(app, url, keys, database_urls.owner["bots"])


@pytest.fixture
def clock(edge: Edge) -> MovableClock:
    """Return the clock of the application, to be moved."""
    clock = MovableClock()
    set_clock(edge.app, clock)
    return clock


@pytest.fixture
async def admin(edge: Edge) -> AsyncIterator[httpx.AsyncClient]:
    async with await edge.client() as client:
        yield client
