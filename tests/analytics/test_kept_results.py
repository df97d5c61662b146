"""Results and studies that are kept while others delete them, or while the read that would have made them fails."""

import asyncio
import gc
import json
import os
import weakref
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from grimp import build_graph

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.kept_results import store as results_store
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.kept_results.use_cases.kept_results import KeptResults, sources, sources_sha256
from spotthebot.analytics.labels.domain import LabelledCampaign
from spotthebot.analytics.results.use_cases.recent_results import RecentResults
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.local.loadtest.record import mebibytes_of
from tests.factories.databases import DatabaseUrls

CAMPAIGN = UUID(int=1)
KEEPING = {"errors", "kept_results", "metadata"}
"""Names of modules that compute no result: those of the store, and the sentences of errors, which are not kept."""
STARTS = ("spotthebot.analytics.results.use_cases.result_cache", "spotthebot.analytics.studies.use_cases")
"""The modules that have results computed and kept."""
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
                await results_store.put_result(other, NEW, CAMPAIGN, "later", b"{}")


class TestPutResult:
    async def test_returns_the_result_though_another_process_deletes_it_meanwhile(self, database: Database):
        async with database.write() as session:
            await results_store.put_result(session, OLD, CAMPAIGN, "earlier", b"first")
        async with database.write() as session:
            interrupted = cast("WriteSession", _Interrupted(session, database))
            assert await results_store.put_result(interrupted, OLD, CAMPAIGN, "earlier", b"second") == b"first"

    async def test_keeps_two_revisions_at_once_without_a_deadlock(self, database: Database):
        async def put(key: bytes, revision: str) -> bytes:
            async with database.write() as session:
                return await results_store.put_result(session, key, CAMPAIGN, revision, key)

        for _ in range(20):
            async with asyncio.timeout(20):
                assert set(await asyncio.gather(put(OLD, "earlier"), put(NEW, "later"))) == {OLD, NEW}


class TestResultCache:
    async def test_takes_the_fingerprint_of_its_code_before_an_update_can_replace_the_files(self, database: Database):
        """Results of the old code were kept as those of the new one, which could not read them."""
        sources_sha256.cache_clear()
        KeptResults(database, ComputeThreads())
        assert sources_sha256.cache_info().currsize == 1

    def test_takes_the_fingerprint_of_all_code_that_computes_results(self):
        """A result must not outlive a correction of what it imports. What keeps and sends results is left out."""
        imports = build_graph("spotthebot.analytics", "spotthebot.statistics", cache_dir=None)
        needed = {
            module
            for start in STARTS
            for module in imports.find_upstream_modules(start)
            if not KEEPING & set(module.split("."))
        }
        assert {"spotthebot.analytics.speakers.domain", "spotthebot.analytics.stats.wins"} < needed
        assert "spotthebot.statistics.columns" in needed
        taken = {str(each) for each in sources()}
        assert {module for module in needed if (found := find_spec(module)) and found.origin not in taken} == set()


class TestComputeThreads:
    async def test_give_the_memory_of_a_computation_back_to_the_system(self):
        """glibc kept it: half a gigabyte after some results of thirty bots."""

        def compute() -> float:
            pieces = [b"x" * (60_000 + each) for each in range(2000)]  # too small for glibc to map each by itself
            held = b"x" * 60_000  # stands behind them, so that the heap cannot shrink from its end
            most = mebibytes_of({"ours": os.getpid()})["ours"]
            del pieces
            kept.append(held)
            return most

        kept: list[bytes] = []
        threads = ComputeThreads()
        most = await threads.run(compute)
        threads.close()
        assert most - mebibytes_of({"ours": os.getpid()})["ours"] > 80


class TestStudies:
    async def test_reads_again_after_a_read_that_failed_when_its_reader_was_gone(self):
        """The failure was served once more, to the next reader."""
        attempts, failing = [], asyncio.Event()

        class _Annotation:
            async def stream_annotations(self, _campaign_id: UUID, **_: Any) -> AsyncIterator[Any]:
                attempts.append(1)
                await failing.wait()
                if attempts:
                    raise ConnectionError(len(attempts))
                yield

        studies = CampaignData(cast("AsyncAnnotation", _Annotation()), cast("AsyncConversations", object()))
        revision = CampaignRevision(cast("CampaignOut", SimpleNamespace(id=uuid4())), "r")
        gone = asyncio.create_task(studies.read(revision))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        failing.set()
        await asyncio.sleep(0.01)
        with pytest.raises(ConnectionError, match="2"):
            await studies.read(revision)

    async def test_keeps_one_study_of_a_campaign_however_often_it_grows(self):
        """Eight were kept, each larger than the one before."""
        studies, campaign = _studies(), _campaign()
        before: list[weakref.ref[LabelledCampaign]] = []
        for number in range(5):
            study = await studies.read(CampaignRevision(campaign, f"r{number}"))
            assert await studies.read(CampaignRevision(campaign, f"r{number}")) is study
            before.append(weakref.ref(study))
        del study
        gc.collect()
        assert [each() is not None for each in before] == [False, False, False, False, True]

    async def test_forgets_a_study_that_nobody_asks_for_any_more(self):
        """Eight were kept for ever, so that memory grew while campaigns came one after the other."""
        studies = _studies(unused_seconds=0.5)
        used, unused = (CampaignRevision(_campaign(), "r") for _ in range(2))
        forgotten, asked = weakref.ref(await studies.read(unused)), weakref.ref(await studies.read(used))
        async with asyncio.timeout(20):
            while forgotten() is not None:
                await studies.read(used)
                await asyncio.sleep(0.02)
        assert asked() is not None
        async with asyncio.timeout(20):
            while asked() is not None:
                await asyncio.sleep(0.02)


class _Peer:
    """Knows campaigns without annotations."""

    async def stream_annotations(self, _campaign_id: UUID, **_: Any) -> AsyncIterator[Any]:
        return
        yield

    list_packages = stream_speakers = stream_annotations


def _studies(**more: Any) -> CampaignData:
    return CampaignData(cast("AsyncAnnotation", _Peer()), cast("AsyncConversations", _Peer()), **more)


def _campaign() -> CampaignOut:
    found = SimpleNamespace(id=uuid4(), name="c", domain="d", state=CampaignState.OPEN, collections=())
    return cast("CampaignOut", found)


class _Campaign:
    """A campaign whose state changes with every question, as while labels come in, and the results of each state."""

    def __init__(self) -> None:
        self.state, self.asked, self.now = CampaignState.OPEN, 0, 1000.0
        self.computed: list[str] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.seconds, self.size = 0.0, 0
        self.failure: Exception | None = None
        source = cast("Any", self)
        self.recent = RecentResults(
            source,
            source,
            source,
            threads=ComputeThreads(),
            limit_seconds=30,
            max_bytes=200,
            clock=lambda: self.now,
        )

    async def get_campaign(self, _campaign_id: UUID) -> Any:
        return SimpleNamespace(id=CAMPAIGN, state=self.state)

    async def revision_of(self, _campaign: CampaignOut, **_: Any) -> CampaignRevision:
        self.asked += 1
        return CampaignRevision(cast("CampaignOut", SimpleNamespace(id=CAMPAIGN)), f"r{self.asked}")

    async def get_at(self, revision: CampaignRevision, section: str, _request: ParametersIn) -> bytes:
        if self.state is CampaignState.CLOSED:
            return b"exact"
        self.computed.append(f"{section} {revision.revision}")
        await self.may_end.wait()
        self.now += self.seconds
        if self.failure is not None:
            raise self.failure
        return json.dumps({"of": revision.revision, "as_of": None}, separators=(",", ":")).encode() + b" " * self.size

    async def ask(self, section: str = "ranking") -> str | None:
        """Return the state that the recent result is of; None for the result of now."""
        body = await self.recent.get(CAMPAIGN, section, ParametersIn())
        if body == b"exact":
            return None
        found = json.loads(body)
        assert datetime.fromisoformat(found["as_of"]) <= datetime.now(UTC)
        return str(found["of"])

    async def settle(self) -> None:
        """Let what is underway go on as far as it can."""
        for _ in range(10):
            await asyncio.sleep(0)


@pytest.fixture
async def campaign() -> _Campaign:
    return _Campaign()


class TestRecentResults:
    async def test_equal_questions_wait_for_one_computation_and_all_parts_of_a_page_are_of_one_state(
        self, campaign: _Campaign
    ):
        asked = await asyncio.gather(*(campaign.ask(each) for each in ("ranking", "ranking", "survival", "ranking")))
        assert asked == ["r1"] * 4
        assert sorted(campaign.computed) == ["ranking r1", "survival r1"]

    async def test_are_answered_while_fresh_then_while_the_next_is_computed_and_waited_for_when_too_old(
        self, campaign: _Campaign
    ):
        assert await campaign.ask() == "r1"
        campaign.now += 14.9
        assert await campaign.ask() == "r1"
        await campaign.settle()
        assert campaign.computed == ["ranking r1"]
        campaign.now += 0.2
        campaign.may_end.clear()
        assert (await campaign.ask(), await campaign.ask()) == ("r1", "r1")
        await campaign.settle()
        assert campaign.computed == ["ranking r1", "ranking r2"]
        campaign.now += 15
        waiting = asyncio.create_task(campaign.ask())
        await campaign.settle()
        assert not waiting.done()
        campaign.may_end.set()
        assert await waiting == "r2"

    async def test_results_that_took_long_may_be_older_so_that_little_time_goes_into_computing_them_again(
        self, campaign: _Campaign
    ):
        campaign.seconds = 20
        assert await campaign.ask() == "r1"
        campaign.now += 59  # 79 s old, which is less than four times 20
        assert await campaign.ask() == "r1"
        await campaign.settle()
        assert campaign.computed == ["ranking r1"]
        campaign.now += 2
        campaign.may_end.clear()
        assert await campaign.ask() == "r1"
        await campaign.settle()
        assert campaign.computed == ["ranking r1", "ranking r2"]
        campaign.may_end.set()

    async def test_are_those_of_now_once_the_campaign_has_ended(self, campaign: _Campaign):
        assert await campaign.ask() == "r1"
        campaign.state = CampaignState.CLOSED
        assert await campaign.ask() is None

    async def test_stay_when_the_next_one_fails_until_they_are_too_old(self, campaign: _Campaign):
        assert await campaign.ask() == "r1"
        campaign.failure = ConnectionError()
        campaign.now += 16
        assert await campaign.ask() == "r1"
        await campaign.settle()
        campaign.now += 16
        with pytest.raises(ConnectionError):
            await campaign.ask()

    async def test_results_that_nobody_asked_for_lately_go_where_there_are_many(self, campaign: _Campaign):
        campaign.size = 30  # two of them fit
        for section in ("ranking", "survival", "ranking", "features", "ranking", "survival"):
            assert await campaign.ask(section) == "r1"
        computed = [each.removesuffix(" r1") for each in campaign.computed]
        assert computed == ["ranking", "survival", "features", "survival"]
