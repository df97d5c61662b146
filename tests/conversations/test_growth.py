"""In tables that have grown, no query reads all turns or all conversations. For the times at two million turns, see

`python -m benchmarks.conversations --only growth`.
"""

from collections.abc import AsyncIterator
from functools import partial

import pytest
from sqlalchemy.engine import make_url

from spotthebot.kit.database.sessions import Database
from tests.factories.databases import DatabaseUrls, PostgresServer
from tests.factories.grown_queries import QUERIES, WRITES, list_plans, scanned_tables
from tests.factories.grown_tables import Grown, grow

TURNS = 100_000
"""So many that PostgreSQL uses the same indexes of turns and conversations as with two million; half are too few."""


@pytest.fixture
async def grown(cluster: PostgresServer, database_urls: DatabaseUrls) -> AsyncIterator[tuple[Grown, Database]]:
    url = database_urls.app["conversations"]
    admin_url = make_url(cluster.admin_url).set(database=make_url(url).database)
    loaded = grow(admin_url.render_as_string(hide_password=False), TURNS)
    database = Database(url, pool_size=2)
    yield loaded, database
    await database.close()


async def test_no_query_reads_all_turns_or_conversations(grown: tuple[Grown, Database]):
    loaded, database = grown
    scanned = {}
    for name, query in QUERIES.items():
        async with database.write() as session:
            scanned[name] = scanned_tables(await list_plans(session, partial(query, session, loaded)))
            await session.rollback()
    assert scanned == {name: set() for name in QUERIES}


async def test_a_claim_takes_as_many_conversations_as_are_requested(grown: tuple[Grown, Database]):
    loaded, database = grown
    for write in WRITES.values():
        async with database.write() as session:
            assert len(await write(session, loaded)) == 64
            await session.rollback()
