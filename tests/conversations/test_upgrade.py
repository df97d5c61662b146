"""What was collected before collections had pairs and states is there afterwards, and goes on."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from alembic import command

from spotthebot.contracts.services import SCHEMAS
from spotthebot.conversations import store
from spotthebot.conversations.domain.concurrency import SlotRequest
from spotthebot.conversations.domain.held_out import ALWAYS, HeldOutExchange, exchange_numbers
from spotthebot.conversations.domain.quality.flags import RULES
from spotthebot.conversations.store.events import EVENTS
from spotthebot.conversations.tables import LINEAGE
from spotthebot.conversations.use_cases.chats.converse import REPLY_IN_CHAT
from spotthebot.conversations.use_cases.quality.requests import FLAG_CONVERSATIONS
from spotthebot.conversations.use_cases.turn_loop.maintenance import RUN_CONVERSATIONS
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_ids
from spotthebot.kit.migrations import upgrade
from spotthebot.suite.postgres.provision import Provisioned, logins, provision
from tests.factories.databases import PostgresServer

FIRST, SECOND = new_ids(2)


@contextmanager
def _database_at(cluster: PostgresServer, revision: str) -> Iterator[Provisioned]:
    """A database at an older revision, without data."""
    name = f"before_{secrets.token_hex(4)}"
    passwords = {login: secrets.token_hex(8) for login in logins(SCHEMAS)}
    made = provision(cluster.admin_url, name, SCHEMAS, passwords)
    command.upgrade(LINEAGE.config(made.owner_urls["conversations"]), revision)
    yield made
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def before(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database of the release before pairs and states."""
    with _database_at(cluster, "conversations_0002") as made:
        yield made


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


@pytest.fixture
def at_0003(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database after the `pre` revision of pairs, on which the release before still runs."""
    with _database_at(cluster, "conversations_0003") as made:
        yield made


async def test_what_the_release_before_pairs_writes_beside_the_new_one_is_kept(at_0003: Provisioned):
    owner = at_0003.owner_urls["conversations"]
    collection, done, running = new_ids(3)
    with psycopg.connect(owner) as connection:
        connection.execute(
            "INSERT INTO conversations.collections (id, name, domain, mode, plan) VALUES (%s, 'old', 'd', 'm', '{}')",
            [collection],
        )
        for row, state, turns in ((done, "complete", 2), (running, "running", 1)):
            connection.execute(
                """
                INSERT INTO conversations.conversations
                    (id, collection_id, state, participants, opening, opening_shown, turns_wanted, seed)
                VALUES (%s, %s, %s, %s, '{}', false, 2, 0)
                """,
                [row, collection, state, json.dumps([_side("X", FIRST), _side("Y", SECOND)])],
            )
            for position in range(turns):
                connection.execute(
                    "INSERT INTO conversations.turns (conversation_id, position, text) VALUES (%s, %s, 'hi')",
                    [row, position],
                )
    upgrade(LINEAGE, owner)
    database = Database(at_0003.app_urls["conversations"], pool_size=1)
    async with database.write() as session:
        found = await store.collections.get_collection(session, collection)
        held = await store.conversations.list_conversations(session, collection, after=None, limit=10)
        claimed = await store.claims.claim(session, 1, collection, limit=10, full=[])
    await database.close()
    assert (found.state, found.conversations, found.complete, found.turns) == ("collecting", 2, 1, 3)
    assert [(tuple(side.name for side in each.participants), each.pair) for each in held] == [(("X", "Y"), 0)] * 2
    assert held[1].next_bot == SECOND
    assert claimed == [running]


@pytest.fixture
def at_0006(cluster: PostgresServer) -> Iterator[Provisioned]:
    """A database whose tables have the names from before revision 0007."""
    with _database_at(cluster, "conversations_0006") as made:
        yield made


async def test_rows_and_queued_jobs_survive_the_renaming_of_tables_and_columns(at_0006: Provisioned):
    owner = at_0006.owner_urls["conversations"]
    collection, claimed, slots = new_ids(3)
    with psycopg.connect(owner) as connection:
        connection.execute("SET search_path TO conversations")
        connection.execute(
            "INSERT INTO collections (id, name, domain, mode, plan, state, bots, conversations, turns_wanted)"
            " VALUES (%s, 'old', 'd', 'all_play_all', '{}', 'collecting', %s, 1, 4)",
            [collection, [FIRST, SECOND]],
        )
        connection.execute(
            "INSERT INTO pairs (collection_id, number, participants) VALUES (%s, 0, %s)",
            [collection, json.dumps([_side("X", FIRST), _side("Y", SECOND)])],
        )
        connection.execute(
            "INSERT INTO conversations (id, collection_id, pair, round, state, opening, opening_shown, turns_wanted,"
            " seed, held_by) VALUES (%s, %s, 0, 0, 'running', '{}', false, 4, 0, 7)",
            [claimed, collection],
        )
        connection.execute("INSERT INTO paces VALUES (%s, now(), 60)", [collection])
        connection.execute("INSERT INTO away_bots (bot_id, name, reason) VALUES (%s, 'Y', 'gone')", [SECOND])
        connection.execute(
            "INSERT INTO places (id, bot_id, job_id, taken, until) VALUES (%s, %s, 7, 3, now() + interval '1 h')",
            [slots, FIRST],
        )
        for task in ("hold_conversations", "answer_chat", "mark_conversations"):
            connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES ('default', %s, '{}')",
                [f"conversations:{task}"],
            )
    upgrade(LINEAGE, owner)
    database = Database(at_0006.app_urls["conversations"], pool_size=1)
    async with database.write() as session:
        found = await store.collections.get_collection(session, collection)
        (conversation,) = await store.conversations.list_claimed(session, 7)
        (unavailable,) = await store.unavailable_bots.list_unavailable(session)
        acquired = await store.concurrency_slots.acquire(session, 8, {FIRST: SlotRequest(3, limit=4, seconds=60)})
        runners = await store.claims.count_jobs(session, RUN_CONVERSATIONS)
        replies = await store.claims.count_jobs(session, REPLY_IN_CHAT)
    await database.close()
    assert (found.turns_planned, conversation.id, conversation.turns_planned) == (4, claimed, 4)
    assert found.rate_turns_per_second is not None
    assert (unavailable.bot_id, unavailable.name, unavailable.reason) == (SECOND, "Y", "gone")
    assert acquired[FIRST].slots == 1
    assert (runners, replies) == (1, 1)


async def test_marks_markings_and_deliveries_are_kept_as_flags_checks_and_leases(at_0006: Provisioned):
    owner = at_0006.owner_urls["conversations"]
    collection, conversation, subscription, event, delivery = new_ids(5)
    with psycopg.connect(owner) as connection:
        connection.execute("SET search_path TO conversations")
        connection.execute(
            "INSERT INTO collections (id, name, domain, mode, plan, state, complete, turns_wanted)"
            " VALUES (%s, 'old', 'd', 'import', '{}', 'complete', 1, 2)",
            [collection],
        )
        connection.execute(
            "INSERT INTO pairs (collection_id, number, participants) VALUES (%s, 0, %s)",
            [collection, json.dumps([_side("X", FIRST), _side("Y", SECOND)])],
        )
        connection.execute(
            "INSERT INTO conversations (id, collection_id, pair, round, state, opening, opening_shown, turns_wanted,"
            " seed) VALUES (%s, %s, 0, 0, 'complete', '{}', false, 2, 0)",
            [conversation, collection],
        )
        connection.execute(
            "INSERT INTO marks (conversation_id, collection_id, rules, bot_speaks, turns, words, profanity,"
            " personal_data, text_hash, signature, exchange_hashes)"
            " VALUES (%s, %s, %s, true, 2, 9, '{1}', '[]', '', '', '')",
            [conversation, collection, RULES],
        )
        connection.execute("INSERT INTO markings (collection_id, state) VALUES (%s, 'marking')", [collection])
        connection.execute(
            "INSERT INTO subscriptions (id, url, events, sealed_secret, active)"
            " VALUES (%s, 'http://a', '{collection.finished}', '', true)",
            [subscription],
        )
        connection.execute(
            "INSERT INTO events (id, type, data, distributed) VALUES (%s, 'collection.finished', '{}', true)", [event]
        )
        connection.execute(
            "INSERT INTO deliveries (id, subscription_id, event_id, state, attempts, next_attempt_at, held_until)"
            " VALUES (%s, %s, %s, 'pending', 1, now(), now() - interval '1 s')",
            [delivery, subscription, event],
        )
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args)"
            " VALUES ('default', 'conversations:mark_conversations', '{}')"
        )
    upgrade(LINEAGE, owner)
    database = Database(at_0006.app_urls["conversations"], pool_size=1)
    async with database.write() as session:
        check = await store.quality_checks.get_check(session, collection)
        (flags,) = await store.quality_flags.list_flags(session, collection, only=None, after=None, limit=10)
        (claimed,) = await EVENTS.deliveries.claim_due(session, limit=10, limit_each=4, lease=timedelta(seconds=30))
        jobs = await store.claims.count_jobs(session, FLAG_CONVERSATIONS)
    await database.close()
    assert (check.state, check.flagged, check.conversations) == ("flagging", 1, 1)
    assert (flags.conversation_id, flags.words, list(flags.profanity)) == (conversation, 9, [1])
    assert (claimed.delivery_id, claimed.attempts) == (delivery, 2)
    assert jobs == 1


async def test_old_corpora_are_private_but_for_the_sample_and_people_in_old_collections_held_out(
    cluster: PostgresServer,
):
    said = ["How was the long exam?", "Long, but I finished it.", "Tea, then, after all?", "Please, with milk."]
    with _database_at(cluster, "conversations_0009") as at_0009:
        owner = at_0009.owner_urls["conversations"]
        collection, by_people, by_bots, sample, own = new_ids(5)
        human = {"kind": "human", "name": "HU"}
        with psycopg.connect(owner) as connection:
            connection.execute("SET search_path TO conversations")
            for corpus, name in ((sample, "sample"), (own, "own")):
                connection.execute(
                    "INSERT INTO corpora (id, name, domain, origin, licence) VALUES (%s, %s, 'd', 'o', 'Apache-2.0')",
                    [corpus, name],
                )
            connection.execute(
                "INSERT INTO collections (id, name, domain, mode, plan, state)"
                " VALUES (%s, 'old', 'd', 'm', '{}', 'complete')",
                [collection],
            )
            for number, (row, sides, opening, turns) in enumerate(
                (
                    (by_people, [human, human], said[:1], said[1:3]),
                    (by_bots, [_side("X", FIRST), _side("Y", SECOND)], said[2:3], said[3:]),
                )
            ):
                connection.execute(
                    "INSERT INTO pairs (collection_id, number, participants) VALUES (%s, %s, %s)",
                    [collection, number, json.dumps(sides)],
                )
                connection.execute(
                    "INSERT INTO conversations (id, collection_id, pair, round, state, opening, opening_shown,"
                    " turns_planned, turns_said, seed) VALUES (%s, %s, %s, 0, 'complete', %s, false, 2, 2, 0)",
                    [row, collection, number, opening],
                )
                for position, text in enumerate(turns):
                    connection.execute(
                        "INSERT INTO turns (conversation_id, position, text) VALUES (%s, %s, %s)", [row, position, text]
                    )
        upgrade(LINEAGE, owner)
        database = Database(at_0009.app_urls["conversations"], pool_size=1)
        async with database.read() as session:
            corpora = await store.corpora.list_corpora(session, name=None, after=None, limit=10)
            held_out = await store.held_out.find_held_out(session, exchange_numbers(said))
        await database.close()
    assert {(each.name, each.owner, each.visibility) for each in corpora} == {
        ("sample", None, "shared"),
        ("own", None, "private"),
    }
    expected = [HeldOutExchange(number, ALWAYS, suffices=False) for number in exchange_numbers(said[:3])]
    assert held_out == {each.number: [each] for each in expected}
