"""Claims at the moment when other transactions take packages, end leases or fill tables."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from spotthebot.annotation.assignments.store import claims as claims_store
from spotthebot.annotation.assignments.store.assignments import _ITEMS
from spotthebot.annotation.assignments.store.claims import _NEXT_FREE
from spotthebot.kit.database.statements import Statement
from tests.factories.annotating import ask, claim, movable_clock, rows
from tests.factories.campaigns import campaign_of
from tests.factories.databases import Databases
from tests.factories.gates import locks_awaited
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_campaigns import fill_campaign

_TAKE = "UPDATE annotation.packages SET slots_left = 0 WHERE id = %s"
_ANNOTATOR = """
    INSERT INTO annotation.annotators (id, campaign_id, external_id) VALUES (%(annotator_id)s, %(campaign_id)s, 'w')
"""
_OTHERS = """
    WITH others AS (
        INSERT INTO annotation.annotators (id, campaign_id, external_id)
        SELECT gen_random_uuid(), %(campaign_id)s, number FROM generate_series(1, 200) AS number RETURNING id)
    INSERT INTO annotation.seen_conversations
    SELECT others.id, conversation_id FROM others, (
        SELECT conversation_id FROM annotation.shown_conversations ORDER BY conversation_id LIMIT 60) AS first
"""
_ASSIGNMENTS = """
    INSERT INTO annotation.assignments (id, campaign_id, package_id, annotator_id, state, leased_at, expires_at)
    SELECT gen_random_uuid(), %(campaign_id)s, id, %(annotator_id)s, 'submitted', now(), now() FROM (
        SELECT DISTINCT ON (block) id FROM annotation.packages ORDER BY block, id LIMIT %(packages)s) AS first
"""
_SEEN = """
    INSERT INTO annotation.seen_conversations
    SELECT DISTINCT annotator_id, conversation_id FROM annotation.items JOIN annotation.assignments USING (package_id)
"""


@contextmanager
def _taking(suite: RunningSuite, package_id: UUID) -> Iterator[psycopg.Connection]:
    """Take the last slot of a package in a transaction that the block commits."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        connection.execute(_TAKE, [package_id])
        yield connection


def _reason(answer: httpx.Response) -> str:
    return answer.json()["type"].removeprefix("urn:spotthebot:problem:")


async def test_claims_that_find_packages_just_taken_never_wait_for_each_other_in_a_circle(
    suite: RunningSuite, databases: Databases
):
    """A new claim wants the first package, then the second; one that came back for the second wants the first then.

    Both packages are taken meanwhile, and PostgreSQL keeps a lock on a row that no longer suits.
    """
    admin = databases.admin_url(suite.database)
    campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1], package_size=1)
    await claim(suite, campaign, "first")
    await claim(suite, campaign, "second")
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        connection.execute("UPDATE annotation.assignments SET state = 'expired'")
        connection.execute("UPDATE annotation.packages SET slots_left = 1")
    (one,), (two,) = rows(suite, "SELECT id FROM annotation.packages ORDER BY id")
    await suite.client("annotation", "annotation")
    await suite.client("annotation", "annotation", team="another")
    with _taking(suite, one) as taking_one, _taking(suite, two) as taking_two:
        new = asyncio.create_task(ask(suite, campaign, "new", team="another"))
        await locks_awaited(admin, 1)
        returning = asyncio.create_task(ask(suite, campaign, "second"))
        await locks_awaited(admin, 2)
        taking_two.commit()
        await asyncio.sleep(0.2)  # the returning annotator's claim goes on to the first package
        await locks_awaited(admin, 2)
        taking_one.commit()
        answers = await asyncio.gather(new, returning)
    assert [(answer.status_code, _reason(answer)) for answer in answers] == [(409, "nothing-left")] * 2


async def test_an_annotators_own_lease_that_is_being_ended_does_not_count_against_the_limit(
    suite: RunningSuite, databases: Databases
):
    admin = databases.admin_url(suite.database)
    campaign = await campaign_of(
        suite, 1, annotations_per_segment=1, segments=[1], packages_per_annotator=1, lease_minutes=60
    )
    clock = movable_clock(suite)
    held = await claim(suite, campaign, "w")
    clock.advance(minutes=61)
    with psycopg.connect(suite.database.owner["annotation"]) as ending:
        ending.execute("UPDATE annotation.assignments SET state = 'expired'")
        ending.execute("UPDATE annotation.packages SET slots_left = slots_left + 1")
        asked = asyncio.create_task(ask(suite, campaign, "w"))
        await locks_awaited(admin, 1)
        ending.commit()
        answer = await asked
    assert (answer.status_code, answer.json().get("id")) == (201, held["id"])


@pytest.mark.parametrize("person", ["w", "new"])
async def test_a_lease_that_ends_between_a_claims_two_looks_at_it_leaves_its_package_to_the_claim(
    suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, person: str
):
    """First another transaction locks the expired lease; then, as the claim wants to wait for it, it has ended it."""
    campaign = await campaign_of(suite, 1, annotations_per_segment=1, segments=[1], lease_minutes=60)
    clock = movable_clock(suite)
    await claim(suite, campaign, "w")
    clock.advance(minutes=61)
    await claim(suite, campaign, "away")
    clock.advance(minutes=61)
    with psycopg.connect(suite.database.owner["annotation"]) as ending:
        ending.execute("UPDATE annotation.assignments SET state = 'expired' WHERE state = 'leased'")
        ending.execute("UPDATE annotation.packages SET slots_left = slots_left + 1")
        looked = []

        async def wait_for_expired(*arguments: Any) -> bool:
            ending.commit()
            looked.append(await waiting(*arguments))
            return looked[-1]

        waiting = claims_store.wait_for_expired
        monkeypatch.setattr(claims_store, "wait_for_expired", wait_for_expired)
        answer = await ask(suite, campaign, person)
    assert looked == [False]
    assert answer.status_code == 201, answer.text


async def test_an_annotator_who_comes_back_waits_for_their_package_and_gets_no_other(
    suite: RunningSuite, databases: Databases
):
    admin = databases.admin_url(suite.database)
    campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1], package_size=1)
    held = await claim(suite, campaign, "w")
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        connection.execute("UPDATE annotation.assignments SET state = 'expired'")
        connection.execute("UPDATE annotation.packages SET slots_left = 1")
    with psycopg.connect(suite.database.owner["annotation"]) as other:
        theirs = "SELECT package_id FROM annotation.assignments"
        other.execute(f"SELECT FROM annotation.packages WHERE id IN ({theirs}) FOR UPDATE")
        asked = asyncio.create_task(ask(suite, campaign, "w"))
        await locks_awaited(admin, 1)
        other.rollback()
        answer = await asked
    assert (answer.status_code, answer.json().get("id")) == (201, held["id"])


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("packages", [0, 40])
def test_a_claim_reads_a_few_packages_however_many_a_campaign_has(databases: Databases, analyzed: bool, packages: int):
    """By new and by old annotators, before and after PostgreSQL knows how large the tables are."""
    with databases.lend() as urls:
        campaign_id = fill_campaign(urls.owner["annotation"], packages=600, size=10)
        annotator_id = uuid4()
        values = {"campaign_id": campaign_id, "annotator_id": annotator_id, "packages": packages}
        connection: psycopg.Connection[Any]
        with psycopg.connect(databases.admin_url(urls), autocommit=True) as connection:
            connection.execute(_ANNOTATOR, values)
            connection.execute(_OTHERS, values)
            connection.execute(_ASSIGNMENTS, values)
            connection.execute(_SEEN, values)
            if analyzed:
                connection.execute("ANALYZE")
            next_package = _explain(connection, _NEXT_FREE[0], values)
            [(package_id,)] = connection.execute("SELECT id FROM annotation.packages LIMIT 1").fetchall()
            items = _explain(connection, _ITEMS, {"assignment_id": uuid4(), "package_id": package_id})
    assert (next_package["Actual Rows"], items["Actual Rows"]) == (1, 10)
    # Of 6,000 items and 2,000 conversations; joins that look natural read 16,129 and 206 blocks.
    assert next_package["Shared Hit Blocks"] + next_package["Shared Read Blocks"] < 200
    assert items["Shared Hit Blocks"] + items["Shared Read Blocks"] < 100


def _explain(connection: psycopg.Connection[Any], statement: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    [([explained],)] = connection.execute(
        b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement.sql, values
    ).fetchall()
    plan: dict[str, Any] = explained["Plan"]
    return plan
