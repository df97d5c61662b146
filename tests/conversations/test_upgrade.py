"""What was collected before collections had pairs and states is there afterwards, and goes on."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from alembic import command

from spotthebot.conversations import store
from spotthebot.conversations.tables import LINEAGE
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_ids
from spotthebot.kit.migrations import upgrade
from spotthebot.suite.postgres.provision import Provisioned, logins, provision
from tests.factories.databases import PostgresServer
from tests.factories.services import SERVICES

FIRST, SECOND = new_ids(2)


@pytest.fixture
def before(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database of the release before, without data."""
    name = f"before_{secrets.token_hex(4)}"
    services = [service.name for service in SERVICES]
    made = provision(cluster.admin_url, name, services, {login: secrets.token_hex(8) for login in logins(services)})
    command.upgrade(LINEAGE.config(made.owner_urls["conversations"]), "conversations_0002")
    yield made
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _side(name: str, bot_id: object) -> dict[str, Any]:
    return {"kind": "bot", "name": name, "bot_id": str(bot_id), "version": 1, "configuration_sha256": "0" * 64}


async def test_old_conversations_keep_their_speakers_and_turns_and_running_ones_wait(before: Provisioned):
    owner = before.owner_urls["conversations"]
    collection, done, swapped, running = new_ids(4)
    there, back = [_side("X", FIRST), _side("Y", SECOND)], [_side("Y", SECOND), _side("X", FIRST)]
    with psycopg.connect(owner) as connection:
        connection.execute(
            "INSERT INTO conversations.collections (id, name, domain, mode, plan) VALUES (%s, 'old', 'd', 'm', '{}')",
            [collection],
        )
        for row, sides, state, turns in (
            (done, there, "complete", 2),
            (swapped, back, "complete", 2),
            (running, there, "running", 1),
        ):
            connection.execute(
                """
                INSERT INTO conversations.conversations
                    (id, collection_id, state, participants, opening, opening_shown, turns_wanted, seed)
                VALUES (%s, %s, %s, %s, '{}', false, 2, 0)
                """,
                [row, collection, state, json.dumps(sides)],
            )
            for position in range(turns):
                connection.execute(
                    "INSERT INTO conversations.turns (conversation_id, position, text) VALUES (%s, %s, %s)",
                    [row, position, f"turn {position}"],
                )
    upgrade(LINEAGE, owner)
    database = Database(before.app_urls["conversations"], pool_size=1)
    async with database.write() as session:
        found = await store.collections.get_collection(session, collection)
        held = await store.conversations.list_conversations(session, collection, after=None, limit=10)
        claimed = await store.claims.claim(session, 1, collection, limit=10, full=[])
    await database.close()
    assert (found.state, found.conversations, found.complete, found.turns) == ("collecting", 3, 2, 5)
    assert [tuple(side.name for side in each.participants) for each in held] == [("X", "Y"), ("Y", "X"), ("X", "Y")]
    assert [each.pair for each in held] == [0, 1, 0]
    assert held[2].turns == ("turn 0",)
    assert held[2].next_bot == SECOND
    assert claimed == [running]
