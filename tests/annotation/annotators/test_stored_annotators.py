"""What the store selects and changes of annotators: rows on both sides of each condition."""

from datetime import timedelta
from functools import partial

import pytest

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import WorkCheck
from spotthebot.annotation.annotators.errors import NoSuchAnnotator, OtherAnnotatorKind, ProgramNameUnusable
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.assignments import AssignmentState
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import NOON, store_annotators, store_assignments, store_campaign, store_packages

PSEUDONYM = "p-0123456789abcdefghijklmnop"
ENDS = NOON + timedelta(hours=1)


class TestAnnotators:
    async def test_are_known_by_campaign_frontend_and_id(self, stored: SavepointDatabase):
        lock = partial(annotators_store.lock_annotator, kind=AnnotatorKind.PERSON)
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

    async def test_have_one_kind_each_whatever_their_name_is(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            lock = partial(annotators_store.lock_annotator, session, campaign, "ours")
            named = {"simulated-1": AnnotatorKind.PERSON, "ann": AnnotatorKind.SIMULATED, "gpt": AnnotatorKind.JUDGE}
            for name, kind in named.items():
                found, _ = await lock(name, kind)
                assert await lock(name, kind) == (found, False)
                assert (await annotators_store.get_annotator(session, campaign, found)).kind is kind
                for other in set(AnnotatorKind) - {kind}:
                    with pytest.raises(OtherAnnotatorKind):
                        await lock(name, other)
            assert (await lock(PSEUDONYM, AnnotatorKind.PERSON))[1]
            for kind in (AnnotatorKind.SIMULATED, AnnotatorKind.JUDGE):
                with pytest.raises(ProgramNameUnusable):
                    await lock(PSEUDONYM, kind)

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
            assert found.appeal == "sorry"
            assert found.appealed_at == NOON
            assert found.granted_attempts == 2
            assert found.consent_sha256 == "a" * 64
            assert found.consented_at == NOON
            assert found.consent_withdrawn_at is None
            await annotators_store.withdraw_consent(session, ann, ENDS)
            await annotators_store.clear_appeal(session, ann)
            found = await annotators_store.get_annotator(session, campaign, ann)
            assert found.consent_sha256 is None
            assert found.consented_at == NOON
            assert found.consent_withdrawn_at == ENDS
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
