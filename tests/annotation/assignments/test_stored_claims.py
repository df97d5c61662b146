"""What the store selects and changes of leases and packages for a claim: rows on both sides of each condition."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import insert, select, update

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.tables import SeenConversationRow
from spotthebot.annotation.assignments.errors import NoSuchAssignment
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import claims as claims_store
from spotthebot.annotation.assignments.tables import AnswerRow
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import HeldLease
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.contracts.annotation.assignments import AssignmentId
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    NOON,
    assignment_states,
    slots_left,
    store_annotators,
    store_assignments,
    store_campaign,
    store_packages,
)

HOUR = timedelta(hours=1)
ENDS = NOON + HOUR
"""When the leases end that tests store."""


async def _answer(session: WriteSession, assignment: UUID) -> None:
    """Save an answer to the first item."""
    answer = {"assignment_id": assignment, "position": 0, "answer": {}, "step": 1, "version": 1, "saved_at": NOON}
    await session.execute(insert(AnswerRow).values(answer))


class TestLeases:
    async def test_are_found_while_held_with_whether_anything_was_answered(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, 2)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            (mine,) = await store_assignments(session, campaign, ann, packages[:1])
            await store_assignments(session, campaign, bob, packages[1:], state="expired")
            expected = HeldLease(AssignmentId(mine), packages[0], NOON, ENDS, is_answered=False)
            assert await claims_store.lock_held(session, ann) == expected
            await _answer(session, mine)
            assert await claims_store.lock_held(session, ann) == replace(expected, is_answered=True)
            assert await claims_store.lock_held(session, bob) is None

    async def test_are_for_others_first_where_nothing_was_answered_for_long(self, stored: SavepointDatabase):
        """Of a lease of one hour, that is after two hours, and for one hour."""
        kept = {"state": "expired", "expires_at": NOON + 2 * HOUR}
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, 3)
            ann, bob, cy = await store_annotators(session, campaign, ["ann", "bob", "cy"])
            (early,) = await store_assignments(session, campaign, ann, packages[:1], **kept)
            (idle,) = await store_assignments(session, campaign, bob, packages[1:2], **kept)
            (worked,) = await store_assignments(session, campaign, cy, packages[2:], **kept)
            await _answer(session, worked)
            renew = partial(claims_store.renew_expired, session, lease=HOUR, wait=True)
            assert await renew(ann, now=NOON + 2 * HOUR - timedelta(microseconds=1)) == early
            assert await renew(bob, now=NOON + 2 * HOUR) is None
            assert await renew(cy, now=NOON + 2 * HOUR) == worked
            assert await renew(bob, now=NOON + 3 * HOUR - timedelta(microseconds=1)) is None
            assert await renew(bob, now=NOON + 3 * HOUR) == idle

    async def test_those_that_expired_are_given_again_while_their_package_needs_somebody(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            full, free, later = await store_packages(session, campaign, 3)
            await session.execute(update(PackageRow).where(PackageRow.id == full).values(slots_left=0))
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            first, second, third = await store_assignments(session, campaign, ann, [full, free, later], state="expired")
            await store_assignments(session, campaign, bob, [later], state="submitted")
            for wait in (True, False):
                found = await claims_store.renew_expired(session, ann, now=ENDS, lease=HOUR, wait=wait)
                assert found == (second if wait else third)
            assert await claims_store.renew_expired(session, ann, now=ENDS, lease=HOUR, wait=True) is None
            assert await assignment_states(session, [first, second, third]) == ["expired", "leased", "leased"]
            assert await slots_left(session, [full, free, later]) == [0, 0, 0]
            assert await leases_store.find_expired(session, ann, full) == first
            assert await leases_store.find_expired(session, ann, free) is None
            assert await leases_store.find_expired(session, bob, full) is None

    async def test_belong_to_the_frontend_of_their_annotator(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            packages = await store_packages(session, campaign, 1)
            (ours,) = await store_annotators(session, campaign, ["ann"])
            (mine,) = await store_assignments(session, campaign, ours, packages)
            assert (await assignments_store.lock_lease(session, mine, "ours")).id == mine
            with pytest.raises(NoSuchAssignment):
                await assignments_store.lock_lease(session, mine, "theirs")
            with pytest.raises(NoSuchAssignment):
                await assignments_store.lock_assignment_of(session, other, mine)


class TestNextPackage:
    async def test_is_the_first_with_a_slot_whose_block_and_conversations_are_new_to_the_annotator(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            await store_packages(session, other, 1)
            had, same_block, full, seen, right, later = await store_packages(session, campaign, 6)
            for package, values in (
                (had, {"block": 1}),
                (same_block, {"block": 1}),
                (full, {"slots_left": 0}),
                (right, {"block": 2}),
            ):
                await session.execute(update(PackageRow).where(PackageRow.id == package).values(**values))
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await store_assignments(session, campaign, ann, [had], state="expired")
            await store_assignments(session, campaign, bob, [right], state="submitted")
            shown = await session.scalar(select(ItemRow.conversation_id).where(ItemRow.package_id == seen))
            for annotator, conversation in ((ann, shown), (bob, new_id())):
                row = {"annotator_id": annotator, "conversation_id": conversation}
                await session.execute(insert(SeenConversationRow).values(row))
            assert await claims_store.lock_free_package(session, campaign, ann) == right
            assert await claims_store.wait_for_package(session, campaign, ann) == right
            assert await claims_store.lock_free_package(session, campaign, bob) == had
            await claims_store.lease_package(session, campaign, right, ann, leased_at=NOON, expires_at=ENDS)
            assert await slots_left(session, [right]) == [0]
            assert await claims_store.needs_annotators(session, later)
            assert not await claims_store.needs_annotators(session, right)
            assert await annotators_store.has_seen(session, ann, right)
            assert not await annotators_store.has_seen(session, ann, later)
            assert not await annotators_store.has_seen(session, bob, right)
            assert await claims_store.lock_free_package(session, campaign, ann) == later
            await leases_store.return_slot(session, right)
            assert await slots_left(session, [right]) == [1]
