"""The states of a bot: the table of transitions, and the SQL that is built from it."""

from datetime import timedelta
from itertools import product

import psycopg
import pytest

from spotthebot.bots.bots.domain import CAUSES, OWNER_EVENTS, TRANSITIONS, Cause, Fingerprints, StatusEvent, next_status
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.bots.store import versions as versions_store
from spotthebot.bots.probes import store as probes_store
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotId, BotIn, BotStatus
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from tests.factories.databases import DatabaseUrls

PROBING, ACTIVE, FAILING, SUSPENDED, RETIRED = BotStatus
ELIZA = BuiltinProtocol(kind="builtin", model="eliza")
LEASE = timedelta(seconds=30)
WHOLE_TABLE = {
    #                           probing    active     failing    suspended  retired
    StatusEvent.VERSION_ADDED: (PROBING, PROBING, PROBING, SUSPENDED, None),
    StatusEvent.PROBE_PASSED: (ACTIVE, ACTIVE, ACTIVE, None, None),
    StatusEvent.PROBE_FAILED: (FAILING, FAILING, FAILING, None, None),
    StatusEvent.CIRCUIT_OPENED: (None, FAILING, None, None, None),
    StatusEvent.MODEL_CHANGED: (None, FAILING, FAILING, None, None),
    StatusEvent.ACTIVATED: (PROBING, ACTIVE, FAILING, PROBING, None),
    StatusEvent.SUSPENDED: (SUSPENDED, SUSPENDED, SUSPENDED, SUSPENDED, None),
    StatusEvent.RETIRED: (RETIRED, RETIRED, RETIRED, RETIRED, RETIRED),
}


class TestTransitions:
    @pytest.mark.parametrize("event", StatusEvent)
    def test_are_exactly_those_of_the_written_table(self, event: StatusEvent) -> None:
        assert tuple(next_status(status, event) for status in BotStatus) == WHOLE_TABLE[event]

    def test_give_each_event_one_cause(self) -> None:
        assert set(CAUSES) == set(TRANSITIONS) == set(StatusEvent)
        assert {cause: [event for event in CAUSES if CAUSES[event] is cause] for cause in Cause} == {
            Cause.REGISTRATION: [StatusEvent.VERSION_ADDED],
            Cause.PROBE: [StatusEvent.PROBE_PASSED, StatusEvent.PROBE_FAILED],
            Cause.CIRCUIT: [StatusEvent.CIRCUIT_OPENED],
            Cause.HOSTING: [StatusEvent.MODEL_CHANGED],
            Cause.OWNER: [StatusEvent.ACTIVATED, StatusEvent.SUSPENDED, StatusEvent.RETIRED],
        }

    def test_let_only_a_probe_make_a_bot_active_and_only_owners_suspend_and_retire(self) -> None:
        reached = {
            (CAUSES[event], new)
            for event, transitions in TRANSITIONS.items()
            for old, new in transitions.items()
            if old is not new
        }
        assert {cause for cause, status in reached if status is ACTIVE} == {Cause.PROBE}
        assert {cause for cause, status in reached if status in {SUSPENDED, RETIRED}} == {Cause.OWNER}

    def test_lead_nowhere_from_retired(self) -> None:
        assert {next_status(RETIRED, event) for event in StatusEvent} == {None, RETIRED}

    def test_owners_may_ask_for_three_statuses(self) -> None:
        assert set(OWNER_EVENTS) == {ACTIVE, SUSPENDED, RETIRED}
        assert {CAUSES[event] for event in OWNER_EVENTS.values()} == {Cause.OWNER}


class TestStoredStatus:
    async def test_changes_as_the_table_says_for_each_event_in_each_status(self, database_urls: DatabaseUrls) -> None:
        database = Database(database_urls.app["bots"], pool_size=1)
        found: dict[tuple[BotStatus, StatusEvent], tuple[BotStatus | None, str]] = {}
        try:
            bot_id = await _bot(database)
            with psycopg.connect(database_urls.owner["bots"], autocommit=True) as rows:
                for status, event in product(BotStatus, StatusEvent):
                    rows.execute("UPDATE bots.bots SET status = %s", [status])
                    async with database.write() as session:
                        changed = await bots_store.change_status(session, bot_id, event)
                    (stored,) = rows.execute("SELECT status FROM bots.bots").fetchone() or ("",)
                    found[status, event] = changed, stored
        finally:
            await database.close()
        assert len(found) == 40
        for (status, event), (changed, stored) in found.items():
            assert changed == next_status(status, event), (status, event)
            assert stored == (next_status(status, event) or status), (status, event)

    async def test_ignores_the_probe_of_an_earlier_version(self, database_urls: DatabaseUrls) -> None:
        database = Database(database_urls.app["bots"], pool_size=1)
        try:
            bot_id = await _bot(database)
            async with database.write() as session:
                event = StatusEvent.PROBE_PASSED
                assert await bots_store.change_status(session, bot_id, event, version=7) is None
                assert await bots_store.change_status(session, bot_id, event, version=0) is ACTIVE
        finally:
            await database.close()

    @pytest.mark.parametrize("status", BotStatus)
    async def test_decides_which_bots_are_due_for_a_probe(self, database_urls: DatabaseUrls, status: BotStatus) -> None:
        """The claim of due probes finds the statuses that a probe can change, and no other."""
        database = Database(database_urls.app["bots"], pool_size=1)
        try:
            bot_id = await _bot(database)
            async with database.write() as session:
                await versions_store.add_version(session, new_id(), bot_id, ELIZA, None, Fingerprints())
            with psycopg.connect(database_urls.owner["bots"]) as rows:
                rows.execute("UPDATE bots.bots SET status = %s, next_probe_at = now()", [status])
            seen = [await probes_store.has_due_probe(database)]
            async with database.write() as session:
                due = await probes_store.claim_due_probe(session, LEASE)
            seen.append(await probes_store.has_due_probe(database))
        finally:
            await database.close()
        assert (due is not None) == (next_status(status, StatusEvent.PROBE_PASSED) is not None)
        assert seen == [due is not None, False]


async def _bot(database: Database) -> BotId:
    async with database.write() as session:
        request = BotIn(name="eliza", domains=("everyday",), protocol=ELIZA)
        return await bots_store.add_bot(session, request, team=None, probe_in=LEASE)
