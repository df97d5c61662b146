"""What the store selects and changes of leases: rows on both sides of each condition."""

from datetime import timedelta

from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.leases import store as leases_store
from spotthebot.contracts.annotation.assignments import AssignmentState
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
            assert await slots_left(session, [*packages, *elsewhere]) == [3, 1, 1, 2]
            assert await expire(session, ENDS) == 2
            assert await slots_left(session, packages) == [3, 2, 2]
            assert await assignment_states(session, [*mine, *also, *theirs]) == 5 * ["expired"]
            assert await expire(session, ENDS) == 0

    async def test_those_of_annotators_end_all_at_once_and_no_others(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, 2)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            leased = await store_assignments(session, campaign, ann, packages[:1])
            submitted = await store_assignments(session, campaign, ann, packages[1:], state="submitted")
            others = await store_assignments(session, campaign, bob, packages)
            await leases_store.end_leases_of(session, [ann], NOON + HOUR / 2)
            states = await assignment_states(session, [*leased, *submitted, *others])
            assert states == ["expired", "submitted", "leased", "leased"]
            assert await slots_left(session, packages) == [2, 1]
            ends = [
                (await assignments_store.lock_assignment_of(session, campaign, each)).expires_at
                for each in (*leased, *others)
            ]
            assert ends == [NOON + HOUR / 2, ENDS, ENDS]  # of the first, the time at which it did end

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
            found = dict(zip(AssignmentState, await assignment_states(session, made), strict=True))
            assert found == {state: state for state in AssignmentState} | {"leased": "submitted"}
            for each in made:
                await leases_store.reject(session, each)
            found = dict(zip(AssignmentState, await assignment_states(session, made), strict=True))
            rejected = {"leased": "rejected", "submitted": "rejected"}
            assert found == {state: state for state in AssignmentState} | rejected
            ends = [(await assignments_store.lock_assignment_of(session, campaign, each)).expires_at for each in made]
            assert [AssignmentState(state) for state, at in zip(AssignmentState, ends, strict=True) if at != ENDS] == [
                AssignmentState.LEASED
            ]
