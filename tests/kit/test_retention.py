"""Old rows go in batches, and rows that are new or still needed stay."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from pydantic import SecretStr
from sqlalchemy import func, insert, select, text

from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.tables import ChatEventRow
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import TurnCountRow
from spotthebot.conversations.metadata import IDEMPOTENCY
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.fed.likelihoods import store as likelihoods_store
from spotthebot.fed.likelihoods.tables import LikelihoodRow
from spotthebot.kit.database import retention as database_retention
from spotthebot.kit.database.retention import KeptRows, Retention, old_failed_jobs, old_idempotency_keys
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import SavepointDatabase, rolled_back
from tests.factories.stored_collections import bot, store_chat_events, store_chats, store_collection

NOW = datetime(2026, 11, 23, tzinfo=UTC)
SIDES = bot(new_id(), "one"), bot(new_id(), "two")
SETTINGS = ConversationsSettings(
    database_url=SecretStr("postgresql://a"),
    idempotency_key_hours=48,
    failed_job_retention_days=7,
    chat_event_retention_days=3,
    turn_count_retention_days=5,
)


@pytest.fixture
async def database(shared_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SavepointDatabase]:
    monkeypatch.setattr(database_retention, "_ROWS_PER_BATCH", 2)
    async with rolled_back(shared_urls.app["conversations"]) as opened:
        yield opened


async def _purge(database: SavepointDatabase, rows: KeptRows, schema: str = "conversations") -> None:
    await Retention(database, schema, [rows], lambda: NOW).purge()  # type: ignore[arg-type] # has its sessions


def _before(**kept: float) -> list[datetime]:
    """Return five times that are too old by a second, and one that is not."""
    return [NOW - timedelta(**kept) + timedelta(seconds=second) for second in (-1, -1, -1, -1, -1, 1)]


async def test_answers_to_repeats_are_kept_as_long_as_the_setting_says(database: SavepointDatabase):
    keys = {f"k{number}": made for number, made in enumerate(_before(hours=48))}
    async with database.write() as session:
        row = {"principal": uuid4(), "path": "/a", "request_sha256": b""}
        await session.execute(insert(IDEMPOTENCY), [row | {"key": key, "created_at": at} for key, at in keys.items()])
    await _purge(database, old_idempotency_keys(SETTINGS))
    async with database.read() as session:
        assert [*await session.scalars(select(IDEMPOTENCY.c.key))] == ["k5"]


async def test_failed_jobs_are_kept_for_days_and_those_that_wait_or_run_for_ever(database: SavepointDatabase):
    async with database.write() as session:
        await session.execute(text("SELECT set_config('search_path', 'conversations', true)"))
        old, new = (str(each) for each in _before(days=7)[-2:])
        for number, (status, at) in enumerate(
            [("failed", old), ("aborted", old), ("failed", old), ("failed", new), ("todo", old), ("doing", old)]
        ):
            await _store_job(session, number, status, at)
    await _purge(database, old_failed_jobs(SETTINGS))
    async with database.read() as session:
        kept = await session.scalars(text("SELECT task_name FROM conversations.procrastinate_jobs ORDER BY id"))
        assert [*kept] == ["3", "4", "5"]


async def _store_job(session: WriteSession, number: int, status: str, at: str) -> None:
    job = await session.scalar(
        text(
            "INSERT INTO procrastinate_jobs (queue_name, task_name) VALUES ('a', :name) RETURNING id"  # with an event
        ),
        {"name": str(number)},
    )
    changed = text("UPDATE procrastinate_jobs SET status = CAST(:status AS procrastinate_job_status) WHERE id = :job")
    await session.execute(changed, {"status": status, "job": job})
    dated = text("UPDATE procrastinate_events SET at = CAST(:at AS timestamptz) WHERE job_id = :job")
    await session.execute(dated, {"at": at, "job": job})


async def test_events_of_chats_are_kept_until_days_after_the_last_turn_of_a_chat_that_is_over(
    database: SavepointDatabase,
):
    old, new = _before(days=3)[-2:]
    async with database.write() as session:
        collection = await store_collection(session, SIDES)
        kept = []
        for state, last_turn_at, is_kept in (("rated", old, False), ("abandoned", new, True), ("chatting", old, True)):
            (chat,) = await store_chats(session, collection, 1, state=state, last_turn_at=last_turn_at)
            await store_chat_events(session, chat, 3)
            kept += [chat] * is_kept
    await _purge(database, chats_store.old_chat_events(SETTINGS.chat_event_retention_days))
    async with database.read() as session:
        counted = select(ChatEventRow.chat_id, func.count()).group_by(ChatEventRow.chat_id)
        found = {chat: number for chat, number in await session.execute(counted)}  # noqa: C416 - typed rows
        assert found == dict.fromkeys(kept, 3)


async def test_numbers_of_turns_are_kept_for_days(database: SavepointDatabase):
    times = [at + timedelta(milliseconds=number) for number, at in enumerate(_before(days=5))]
    async with database.write() as session:
        collection = await store_collection(session, SIDES)
        rows = [{"collection_id": collection, "begins_at": at, "turns": 1} for at in times]
        await session.execute(insert(TurnCountRow), rows)
    await _purge(database, collections_store.old_turn_counts(SETTINGS.turn_count_retention_days))
    async with database.read() as session:
        assert [*await session.scalars(select(TurnCountRow.begins_at))] == times[-1:]


async def test_likelihoods_are_kept_for_days_after_their_last_use(
    shared_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database_retention, "_ROWS_PER_BATCH", 2)
    times = {bytes([number]): at for number, at in enumerate(_before(days=90))}
    likelihood = {"turns_left_out": 0, "predicted_tokens": 1, "nlls": [1.0], "tokens": [1]}
    async with rolled_back(shared_urls.app["fed"]) as database:
        async with database.write() as session:
            rows = [likelihood | {"key": key, "last_used_at": at} for key, at in times.items()]
            await session.execute(insert(LikelihoodRow), rows)
            await likelihoods_store.note_use(session, [b"\x01"])  # in the database's own time, which is later
        await _purge(database, likelihoods_store.old_likelihoods(90), "fed")
        async with database.read() as session:
            assert {*await session.scalars(select(LikelihoodRow.key))} == {b"\x01", b"\x05"}
