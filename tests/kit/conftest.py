"""A small application on kit's edge, with a table of its own, to try what every service is given."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import APIRouter, Depends, FastAPI
from pydantic import BaseModel, Field, SecretStr
from sqlalchemy import text

from spotthebot.bots.tables import IDEMPOTENCY
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.errors import Conflict, FieldError, Forbidden, Invalid, NotFound, TooMany, Unavailable
from spotthebot.kit.ids import new_id
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.application import build_application
from spotthebot.kit.web.authentication import allow
from spotthebot.kit.web.idempotency import IdempotentRoute, idempotent
from spotthebot.kit.web.pagination import Page, Paging, page_of
from spotthebot.kit.web.sessions import Reading, Writing
from spotthebot.suite.supervision.sockets import bind
from tests.factories.house import DatabaseUrls, Keys, served

_TABLE = """
CREATE TABLE bots.things (
    id uuid PRIMARY KEY, name text NOT NULL, twin text,
    CONSTRAINT twins UNIQUE (twin) DEFERRABLE INITIALLY DEFERRED
)
"""
FAMILIES = {
    "invalid": Invalid(fields=(FieldError("/a/0", "is odd"),)),
    "forbidden": Forbidden(),
    "missing": NotFound(),
    "conflict": Conflict(),
    "many": TooMany(retry_after_seconds=7),
    "unavailable": Unavailable(),
}

admins = allow("admin")
Admin = Annotated[Principal, Depends(admins)]
Creator = Annotated[Principal, Depends(idempotent(admins))]
router = APIRouter(route_class=IdempotentRoute)


class ThingIn(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    twin: str | None = None
    sizes: list[int] = []


class ThingOut(BaseModel):
    id: UUID
    name: str


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


@router.post("/things/while-reading")
async def write_while_reading(session: Reading, _caller: Admin, thing: ThingIn) -> ThingOut:
    return await _add(session, thing)  # type: ignore[arg-type] - what PostgreSQL has to refuse


@router.get("/things")
async def list_things(session: Reading, _caller: Admin, paging: Paging) -> Page[ThingOut]:
    statement = text("SELECT id, name FROM bots.things WHERE id > :after ORDER BY id LIMIT :limit")
    after = paging.after or UUID(int=0)
    rows = (await session.execute(statement, {"after": after, "limit": paging.limit + 1})).all()
    return page_of(rows, paging, key=lambda row: row.id, shape=lambda row: ThingOut(id=row.id, name=row.name))


@router.get("/failing/{family}")
async def fail(_caller: Admin, family: str) -> None:
    if family == "unforeseen":
        message = "the secret of the house"
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
        with psycopg.connect(self.owner_url) as connection:
            (count,) = connection.execute("SELECT count(*) FROM bots.things").fetchone()
        return count

    async def client(self, role: str = "admin") -> httpx.AsyncClient:
        key = await self.keys.make(role)
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False, timeout=30)


@pytest.fixture
async def edge(database_urls: DatabaseUrls, keys: Keys) -> AsyncIterator[Edge]:
    with psycopg.connect(database_urls.owner["bots"]) as connection:
        connection.execute(_TABLE)
    settings = ServiceSettings(
        database_url=SecretStr(database_urls.app["bots"]),
        cors_origins=("https://frontend.example",),
        max_body_bytes=2048,
    )
    app = build_application("things", summary="", settings=settings, routers=[router], idempotency_table=IDEMPOTENCY)
    async with served(app, bind("127.0.0.1", 0)) as url:
        yield Edge(app, url, keys, database_urls.owner["bots"])


@pytest.fixture
async def admin(edge: Edge) -> AsyncIterator[httpx.AsyncClient]:
    async with await edge.client() as client:
        yield client
