"""Results and studies that are kept while others delete them, or while the read that would have made them fails."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from spotthebot.analytics import store
from spotthebot.analytics.clients import CampaignRevision, Studies
from spotthebot.analytics.use_cases.result_cache import ResultCache, sources_sha256
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.annotation import CampaignOut
from spotthebot.kit.database import Database, WriteSession
from tests.factories.databases import DatabaseUrls

CAMPAIGN = UUID(int=1)
OLD, NEW = b"old" * 11, b"new" * 11


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["analytics"], pool_size=4)
    yield opened
    await opened.close()


class _Interrupted:
    """A session in which another process keeps a result of a later revision, once a result was inserted."""

    def __init__(self, session: WriteSession, database: Database) -> None:
        self._session, self._database = session, database

    async def execute(self, statement: Any) -> Any:
        result = await self._session.execute(statement)
        await self._interrupt(statement)
        return result

    async def scalars(self, statement: Any) -> Any:
        result = await self._session.scalars(statement)
        await self._interrupt(statement)
        return result

    async def _interrupt(self, statement: Any) -> None:
        if "INSERT" in str(statement):
            async with asyncio.timeout(20), self._database.write() as other:
                await store.results.put_result(other, NEW, CAMPAIGN, "later", b"{}")


class TestPutResult:
    async def test_returns_the_result_though_another_process_deletes_it_meanwhile(self, database: Database):
        async with database.write() as session:
            await store.results.put_result(session, OLD, CAMPAIGN, "earlier", b"first")
        async with database.write() as session:
            interrupted = cast("WriteSession", _Interrupted(session, database))
            assert await store.results.put_result(interrupted, OLD, CAMPAIGN, "earlier", b"second") == b"first"

    async def test_keeps_two_revisions_at_once_without_a_deadlock(self, database: Database):
        async def put(key: bytes, revision: str) -> bytes:
            async with database.write() as session:
                return await store.results.put_result(session, key, CAMPAIGN, revision, key)

        for _ in range(20):
            async with asyncio.timeout(20):
                assert set(await asyncio.gather(put(OLD, "earlier"), put(NEW, "later"))) == {OLD, NEW}


class TestResultCache:
    async def test_takes_the_fingerprint_of_its_code_before_an_update_can_replace_the_files(self, database: Database):
        """Results of the old code were kept as those of the new one, which could not read them."""
        sources_sha256.cache_clear()
        ResultCache(database, cast("Studies", None))
        assert sources_sha256.cache_info().currsize == 1


class TestStudies:
    async def test_reads_again_after_a_read_that_failed_when_its_reader_was_gone(self):
        """The failure was served once more, to the next reader."""
        attempts, failing = [], asyncio.Event()

        class _Annotation:
            async def stream_annotations(self, _campaign_id: UUID) -> AsyncIterator[Any]:
                attempts.append(1)
                await failing.wait()
                if attempts:
                    raise ConnectionError(len(attempts))
                yield

        studies = Studies(cast("AsyncAnnotation", _Annotation()), cast("AsyncConversations", object()))
        revision = CampaignRevision(cast("CampaignOut", SimpleNamespace(id=uuid4())), "r")
        gone = asyncio.create_task(studies.read(revision))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        failing.set()
        await asyncio.sleep(0.01)
        with pytest.raises(ConnectionError, match="2"):
            await studies.read(revision)
