"""What the store selects and changes of leases, annotators and campaigns: rows on both sides of each condition."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import insert, select, update

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import WorkCheck
from spotthebot.annotation.annotators.errors import NoSuchAnnotator
from spotthebot.annotation.annotators.tables import SeenConversationRow
from spotthebot.annotation.assignments.errors import NoSuchAssignment
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import claims as claims_store
from spotthebot.annotation.assignments.tables import AnswerRow
from spotthebot.annotation.attempts import store as attempts_store
from spotthebot.annotation.attempts.tables import TrainingAttemptRow
from spotthebot.annotation.entry_links import store as entry_links_store
from spotthebot.annotation.entry_links.domain.entry_links import EntryLink
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import HeldLease
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.contracts.assignments import AssignmentId, AssignmentState
from spotthebot.contracts.trainings import TrainingState
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    NOON,
    store_annotators,
    store_assignments,
    store_campaign,
    store_packages,
)

HOUR = timedelta(hours=1)
ENDS = NOON + HOUR
"""When the leases end that tests store."""


async def _slots(session: ReadSession, packages: Sequence[UUID]) -> list[int]:
    rows = await session.execute(select(PackageRow.id, PackageRow.slots_left).where(PackageRow.id.in_(packages)))
    found = {row_id: slots for row_id, slots in rows}  # noqa: C416 - typed rows
    return [found[each] for each in packages]


async def _answer(session: WriteSession, assignment: UUID) -> None:
    """Save an answer to the first item."""
    answer = {"assignment_id": assignment, "position": 0, "answer": {}, "step": 1, "version": 1, "saved_at": NOON}
    await session.execute(insert(AnswerRow).values(answer))


async def _states(session: ReadSession, assignments: Sequence[UUID]) -> list[str]:
    rows = await session.execute(select(AssignmentRow.id, AssignmentRow.state).where(AssignmentRow.id.in_(assignments)))
    found = {row_id: state for row_id, state in rows}  # noqa: C416 - typed rows
    return [found[each] for each in assignments]


class TestLeases:
    async def test_end_at_their_moment_and_give_their_slots_back(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            packages = await store_packages(session, campaign, 3)
            elsewhere = await store_packages(session, other, 1)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            mine = await store_assignments(session, campaign, ann, packages)
            also = await store_assignments(session, campaign, bob, packages[:1])
            theirs = await store_assignments(session, other, bob, elsewhere)
            await store_assignments(session, campaign, bob, packages[1:2], state="submitted")
            expire = leases_store.expire_leases
            assert await expire(session, ENDS - timedelta(microseconds=1)) == 0
            assert await expire(session, ENDS, campaign_id=other) == 1
            assert await expire(session, ENDS, package_id=packages[0]) == 2
            assert await _slots(session, [*packages, *elsewhere]) == [3, 1, 1, 2]
            assert await expire(session, ENDS) == 2
            assert await _slots(session, packages) == [3, 2, 2]
            assert await _states(session, [*mine, *also, *theirs]) == 5 * ["expired"]
            assert await expire(session, ENDS) == 0

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
            assert await _states(session, [first, second, third]) == ["expired", "leased", "leased"]
            assert await _slots(session, [full, free, later]) == [0, 0, 0]
            assert await leases_store.find_expired(session, ann, full) == first
            assert await leases_store.find_expired(session, ann, free) is None
            assert await leases_store.find_expired(session, bob, full) is None

    async def test_those_of_annotators_end_all_at_once_and_no_others(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, 2)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            leased = await store_assignments(session, campaign, ann, packages[:1])
            submitted = await store_assignments(session, campaign, ann, packages[1:], state="submitted")
            others = await store_assignments(session, campaign, bob, packages)
            await leases_store.end_leases_of(session, [ann])
            states = await _states(session, [*leased, *submitted, *others])
            assert states == ["expired", "submitted", "leased", "leased"]
            assert await _slots(session, packages) == [2, 1]

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

    async def test_change_state_from_the_states_before_alone(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, len(AssignmentState))
            (ann,) = await store_annotators(session, campaign, ["ann"])
            made = [
                (await store_assignments(session, campaign, ann, [package], state=state))[0]
                for package, state in zip(packages, AssignmentState, strict=True)
            ]
            for each in made:
                await leases_store.extend_lease(session, each, ENDS + HOUR)
                await leases_store.submit(session, each, at=NOON, completion_code="c")
            found = dict(zip(AssignmentState, await _states(session, made), strict=True))
            assert found == {state: state for state in AssignmentState} | {"leased": "submitted"}
            for each in made:
                await leases_store.reject(session, each)
            found = dict(zip(AssignmentState, await _states(session, made), strict=True))
            rejected = {"leased": "rejected", "submitted": "rejected"}
            assert found == {state: state for state in AssignmentState} | rejected
            ends = [(await assignments_store.lock_assignment_of(session, campaign, each)).expires_at for each in made]
            assert [AssignmentState(state) for state, at in zip(AssignmentState, ends, strict=True) if at != ENDS] == [
                AssignmentState.LEASED
            ]


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
            assert await _slots(session, [right]) == [0]
            assert await claims_store.needs_annotators(session, later)
            assert not await claims_store.needs_annotators(session, right)
            assert await annotators_store.has_seen(session, ann, right)
            assert not await annotators_store.has_seen(session, ann, later)
            assert not await annotators_store.has_seen(session, bob, right)
            assert await claims_store.lock_free_package(session, campaign, ann) == later
            await leases_store.return_slot(session, right)
            assert await _slots(session, [right]) == [1]


class TestAnnotators:
    async def test_are_known_by_campaign_frontend_and_id(self, stored: SavepointDatabase):
        lock = annotators_store.lock_annotator
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            ours, is_new = await lock(session, campaign, "ours", "bob")
            assert is_new
            assert await lock(session, campaign, "ours", "bob") == (ours, False)
            assert (await lock(session, campaign, "theirs", "bob"))[1]
            assert (await lock(session, other, "ours", "bob"))[1]
            assert (await annotators_store.lock_known_annotator(session, campaign, "ours", "bob")).id == ours
            for known in ((campaign, "ours", "cid"), (campaign, "third", "bob")):
                with pytest.raises(NoSuchAnnotator):
                    await annotators_store.lock_known_annotator(session, *known)
            with pytest.raises(NoSuchAnnotator):
                await annotators_store.lock_annotator_by_id(session, other, ours)

    async def test_are_blocked_and_unblocked_once_and_no_others(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await annotators_store.set_appeal(session, ann, "sorry", NOON)
            assert [await annotators_store.block(session, ann, NOON, reason) for reason in "ab"] == [True, False]
            found = await annotators_store.get_annotator(session, campaign, ann)
            assert (found.blocked_at, found.blocked_reason, found.appeal) == (NOON, "a", None)
            assert not await annotators_store.unblock(session, bob)
            assert [await annotators_store.unblock(session, ann) for _ in range(2)] == [True, False]
            found = await annotators_store.get_annotator(session, campaign, ann)
            assert (found.blocked_at, found.blocked_reason) == (None, None)
            assert (await annotators_store.get_annotator(session, campaign, bob)).blocked_at is None

    async def test_have_changes_of_their_own_alone(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            untouched = await annotators_store.get_annotator(session, campaign, bob)
            await annotators_store.set_appeal(session, ann, "sorry", NOON)
            await annotators_store.set_granted_attempts(session, ann, 2)
            await annotators_store.set_consent(session, ann, "a" * 64, NOON)
            found = await annotators_store.get_annotator(session, campaign, ann)
            assert (found.appeal, found.appealed_at, found.granted_attempts) == ("sorry", NOON, 2)
            assert (found.consent_sha256, found.consented_at, found.consent_withdrawn_at) == ("a" * 64, NOON, None)
            await annotators_store.withdraw_consent(session, ann, ENDS)
            await annotators_store.clear_appeal(session, ann)
            found = await annotators_store.get_annotator(session, campaign, ann)
            assert (found.consent_sha256, found.consented_at, found.consent_withdrawn_at) == (None, NOON, ENDS)
            assert (found.appeal, found.appealed_at) == (None, None)
            more = WorkCheck(gold_right=1, gold_wrong=2, fast_items=3, fast_packages=4, strikes=5)
            for times in (1, 2):
                sums = WorkCheck(times, 2 * times, 3 * times, 4 * times, 5 * times)
                assert await annotators_store.add_work_check(session, ann, more) == sums
            assert await annotators_store.get_annotator(session, campaign, bob) == untouched

    async def test_count_all_their_packages_but_expired_ones(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, len(AssignmentState))
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            for package, state in zip(packages, AssignmentState, strict=True):
                await store_assignments(session, campaign, ann, [package], state=state)
            counts = [(await annotators_store.get_annotator(session, campaign, each)).packages for each in (ann, bob)]
        assert counts == [len(AssignmentState) - 1, 0]

    async def test_end_an_attempt_once(self, stored: SavepointDatabase):
        async with stored.write() as session:
            ann, bob = await store_annotators(session, await store_campaign(session), ["ann", "bob"])
            for annotator in (ann, bob):
                for number in (1, 2):
                    await attempts_store.add_attempt(session, annotator, number, at=NOON)
            for state, at in ((TrainingState.PASSED, ENDS), (TrainingState.FAILED, ENDS + HOUR)):
                await attempts_store.end_attempt(session, ann, 2, state, at=at)
            rows = await session.execute(select(TrainingAttemptRow.state, TrainingAttemptRow.ended_at))
        assert sorted(map(tuple, rows), key=str) == [*3 * [("in_progress", None)], ("passed", ENDS)]

    async def test_enter_by_a_link_as_many_as_it_is_for_through_its_frontend(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            links = [
                EntryLink(new_id(), campaign, frontend, None, ENDS, most)
                for frontend, most in (("ours", 2), (None, None))
            ]
            for link in links:
                await entry_links_store.add_link(session, link)
            limited, open_ = (link.id for link in links)
            counted = [await entry_links_store.count_annotator(session, limited) for _ in range(3)]
            assert counted == [True, True, False]
            assert all([await entry_links_store.count_annotator(session, open_) for _ in range(3)])
            assert await entry_links_store.find_link(session, limited, "ours") == links[0]
            assert await entry_links_store.find_link(session, limited, "theirs") is None
            assert await entry_links_store.find_link(session, open_, "theirs") == links[1]
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await entry_links_store.add_entry(session, limited, ann, {}, NOON)
            entered = [
                await entry_links_store.has_entered(session, link, annotator)
                for link in (limited, open_)
                for annotator in (ann, bob)
            ]
            assert entered == [True, False, False, False]
