"""Every list of the store comes page by page, in its order, and without rows of another campaign or annotator."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import permutations
from uuid import UUID

import pytest
from sqlalchemy import insert, select

from spotthebot.annotation.annotations import store as annotations_store
from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.attempts import store as attempts_store
from spotthebot.annotation.attempts.domain import Attempt, SavedAnswer
from spotthebot.annotation.attempts.tables import TrainingAttemptRow
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.audit.tables import AuditRow
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.entry_links import store as entry_links_store
from spotthebot.annotation.entry_links.tables import EntryLinkRow
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.annotation.payments import store as payments_store
from spotthebot.annotation.payments.tables import BonusRow
from spotthebot.annotation.protocols import store as protocols_store
from spotthebot.annotation.protocols.tables import ProtocolRow
from spotthebot.annotation.studies import store as studies_store
from spotthebot.annotation.trainings import store as trainings_store
from spotthebot.annotation.trainings.tables import TrainingRow
from spotthebot.contracts.annotation.studies import StudyIn
from spotthebot.contracts.annotation.trainings import TrainingState
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    NOON,
    TURNS,
    store_annotations,
    store_annotators,
    store_assignments,
    store_campaign,
    store_packages,
)

COUNT = 5
PAY = Decimal("1.50")

Fill = Callable[[WriteSession, UUID], Awaitable[Sequence[UUID]]]
"""Stores what a list is of, and returns the ids in their order."""
List = Callable[[ReadSession, UUID, UUID | None, int], Awaitable[Sequence[UUID]]]
"""Returns the ids of a page: those after one, up to a limit."""


async def _items(session: WriteSession, packages: Sequence[UUID]) -> list[UUID]:
    found = select(ItemRow.id).where(ItemRow.package_id.in_(packages)).order_by(ItemRow.id)
    return [*await session.scalars(found)]


async def _annotators(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    return await store_annotators(session, campaign, [f"person {number}" for number in range(COUNT)])


async def _packages(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    return await store_packages(session, campaign, COUNT, items=2)


async def _all_items(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    return await _items(session, await _packages(session, campaign))


async def _annotations(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    items = await _items(session, await store_packages(session, campaign, COUNT))
    (annotator,) = await store_annotators(session, campaign, ["ann"])
    return await store_annotations(session, campaign, annotator, items)


async def _decisions(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    ids = new_ids(COUNT)
    row = {"campaign_id": campaign, "key_id": new_id(), "action": "block", "details": {}}
    await session.execute(insert(AuditRow), [row | {"id": each} for each in reversed(ids)])
    return ids


async def _submitted(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    packages = await store_packages(session, campaign, 2 * COUNT)
    (known,) = await store_annotators(session, campaign, ["ann"])
    (erased,) = await store_annotators(session, campaign, ["bob"], erased_at=NOON)
    await store_assignments(session, campaign, known, packages[COUNT:])
    await store_assignments(session, campaign, erased, packages[:1], state="submitted", submitted_at=NOON)
    return await store_assignments(session, campaign, known, packages[:COUNT], state="submitted", submitted_at=NOON)


async def _bonuses(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    (known,) = await store_annotators(session, campaign, ["ann"])
    (erased,) = await store_annotators(session, campaign, ["bob"], erased_at=NOON)
    ids = new_ids(COUNT + 1)
    row = {"campaign_id": campaign, "amount": PAY, "reason": "good", "key_id": new_id(), "granted_at": NOON}
    whose = [*COUNT * [known], erased]
    rows = [row | {"id": each, "annotator_id": one} for each, one in zip(ids, whose, strict=True)]
    await session.execute(insert(BonusRow), rows[::-1])
    return ids[:COUNT]


async def _paid(session: WriteSession, campaign: UUID) -> Sequence[UUID]:
    """Two who submitted, two with a bonus, one with both, and two who get nothing."""
    ids = await store_annotators(session, campaign, [f"person {number}" for number in range(COUNT + 2)])
    packages = await store_packages(session, campaign, COUNT)
    for annotator, package in zip(ids[:3], packages[:3], strict=True):
        await store_assignments(session, campaign, annotator, [package], state="submitted", submitted_at=NOON)
    await store_assignments(session, campaign, ids[COUNT], packages[3:])
    row = {"campaign_id": campaign, "amount": PAY, "reason": "good", "key_id": new_id(), "granted_at": NOON}
    await session.execute(insert(BonusRow), [row | {"id": new_id(), "annotator_id": each} for each in ids[2:COUNT]])
    return ids[:COUNT]


async def _list_annotators(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    return [each.id for each in await annotators_store.list_annotators(session, campaign, after=after, limit=limit)]


async def _list_packages(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    found = await packages_store.list_packages(session, campaign, after=after, limit=limit)
    assert all(len(each.items) == 2 for each in found)
    return [each.id for each in found]


async def _list_items(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    found = await packages_store.list_exported_items(session, campaign, after=after, limit=limit)
    return [each.id for each in found]


async def _list_annotations(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    return [each.id for each in await annotations_store.list_annotations(session, campaign, after=after, limit=limit)]


async def _list_annotated(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    found = await annotations_store.list_annotated_items(session, campaign, after=after, limit=limit)
    return [each.annotation.id for each in found]


async def _list_decisions(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    return [each.id for each in await audit_store.list_entries(session, campaign, after=after, limit=limit)]


async def _list_paid_packages(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    found = await payments_store.list_paid_packages(session, campaign, after=after, limit=limit)
    return [each.assignment_id for each in found]


async def _list_bonuses(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    return [each.id for each in await payments_store.list_bonuses(session, campaign, after=after, limit=limit)]


async def _list_payments(session: ReadSession, campaign: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
    whole = await campaigns_store.get_campaign(session, campaign)
    found = await payments_store.list_payments(session, whole, PAY, after=after, limit=limit)
    return [each.annotator_id for each in found]


async def _pages(session: ReadSession, of: UUID, lists: List) -> list[UUID]:
    """Return what a list has, asked for two at a time."""
    found: list[UUID] = []
    while page := await lists(session, of, found[-1] if found else None, 2):
        assert len(page) <= 2
        found += page
    return found


@pytest.mark.parametrize(
    ("lists", "fill"),
    [
        (_list_annotators, _annotators),
        (_list_packages, _packages),
        (_list_items, _all_items),
        (_list_annotations, _annotations),
        (_list_annotated, _annotations),
        (_list_decisions, _decisions),
        (_list_paid_packages, _submitted),
        (_list_bonuses, _bonuses),
        (_list_payments, _paid),
    ],
)
async def test_a_campaigns_list_has_all_of_it_in_order_and_nothing_of_another(
    stored: SavepointDatabase, lists: List, fill: Fill
):
    async with stored.write() as session:
        before, mine, after = [await store_campaign(session) for _ in range(3)]
        await fill(session, before)
        expected = await fill(session, mine)
        await fill(session, after)
    async with stored.read() as reading:
        assert await lists(reading, mine, None, 100) == [*expected]
        assert await _pages(reading, mine, lists) == [*expected]


async def test_campaigns_are_listed_by_name_or_all_of_them_page_by_page(stored: SavepointDatabase):
    async with stored.write() as session:
        ids = [await store_campaign(session, name=f"campaign {number}") for number in range(COUNT)]

    async def lists(session: ReadSession, _: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
        found = await campaigns_store.list_campaigns(session, name=None, after=after, limit=limit)
        return [each.id for each in found]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == sorted(ids)  # of one millisecond in any order
        named = await campaigns_store.list_campaigns(reading, name="campaign 1", after=None, limit=100)
    assert [each.id for each in named] == [ids[1]]


async def test_protocols_are_listed_by_name_or_all_of_them_page_by_page(stored: SavepointDatabase):
    ids = new_ids(COUNT)
    rows = [
        {"id": each, "name": ("odd", "even")[number % 2], "version": number, "document": {"title": "T", "source": "S"}}
        for number, each in enumerate(ids, 1)
    ]
    async with stored.write() as session:
        await session.execute(insert(ProtocolRow), rows[::-1])

    async def lists(session: ReadSession, _: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
        return [each.id for each in await protocols_store.list_protocols(session, name=None, after=after, limit=limit)]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == ids
        named = await protocols_store.list_protocols(reading, name="odd", after=None, limit=100)
    assert [(each.id, each.title, each.source) for each in named] == [(ids[place], "T", "S") for place in (1, 3)]


async def test_trainings_are_listed_by_name_or_all_of_them_page_by_page(stored: SavepointDatabase):
    ids = new_ids(COUNT)
    document = {"title": "T", "protocol": "P", "protocol_version": 2, "dialogues": [{}, {}, {}]}
    rows = [
        {"id": each, "name": ("odd", "even")[number % 2], "version": number, "document": document}
        for number, each in enumerate(ids, 1)
    ]
    async with stored.write() as session:
        await session.execute(insert(TrainingRow), rows[::-1])

    async def lists(session: ReadSession, _: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
        return [each.id for each in await trainings_store.list_trainings(session, name=None, after=after, limit=limit)]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == ids
        named = await trainings_store.list_trainings(reading, name="odd", after=None, limit=100)
        assert await trainings_store.find_newest_version(reading, "odd") == 4
        assert await trainings_store.find_newest_version(reading, "neither") is None
    assert [(each.id, each.dialogues) for each in named] == [(ids[place], 3) for place in (1, 3)]


async def test_studies_are_listed_by_name_or_all_of_them_page_by_page_with_their_campaigns_in_order(
    stored: SavepointDatabase,
):
    async with stored.write() as session:
        campaigns = [await store_campaign(session) for _ in range(3)]
        ids = [
            (await studies_store.add_study(session, StudyIn(name=f"study {number}", campaigns=tuple(order)))).id
            for number, order in enumerate(permutations(campaigns, 2))
        ]

    async def lists(session: ReadSession, _: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
        return [each.id for each in await studies_store.list_studies(session, name=None, after=after, limit=limit)]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == sorted(ids)  # of one millisecond in any order
        named = await studies_store.list_studies(reading, name="study 1", after=None, limit=100)
        found = [(await studies_store.get_study(reading, each)).campaigns for each in ids]
    assert [each.id for each in named] == [ids[1]]
    assert found == [*permutations(campaigns, 2)]


async def test_an_annotators_assignments_are_theirs_alone_page_by_page_and_the_last_submitted_is_known(
    stored: SavepointDatabase,
):
    async with stored.write() as session:
        campaign = await store_campaign(session)
        packages = await store_packages(session, campaign, COUNT)
        mine, other = await store_annotators(session, campaign, ["ann", "bob"])
        await store_assignments(session, campaign, other, packages)
        late = await store_assignments(
            session, campaign, mine, packages[:1], state="submitted", submitted_at=NOON + timedelta(hours=1)
        )
        early = await store_assignments(session, campaign, mine, packages[1:3], state="submitted", submitted_at=NOON)
        leased = await store_assignments(session, campaign, mine, packages[3:])

    async def lists(session: ReadSession, annotator: UUID, after: UUID | None, limit: int) -> Sequence[UUID]:
        found = await assignments_store.list_assignments(session, annotator, after=after, limit=limit)
        return [each.id for each in found]

    async with stored.read() as reading:
        assert await _pages(reading, mine, lists) == sorted([*late, *early, *leased])
        last = await assignments_store.find_last_submitted(reading, mine)
        assert last is not None
        assert last.id == late[0]
        assert await assignments_store.find_last_submitted(reading, other) is None


async def test_attempts_come_in_order_with_their_own_answers(stored: SavepointDatabase):
    def answer(position: int, attempt: int) -> SavedAnswer:
        return SavedAnswer(position, {"attempt": attempt}, position + attempt, NOON)

    async with stored.write() as session:
        mine, other = await store_annotators(session, await store_campaign(session), ["ann", "bob"])
        for annotator in (mine, other):
            for number in (2, 1):
                row = {"annotator_id": annotator, "attempt": number, "state": "failed", "started_at": NOON}
                await session.execute(insert(TrainingAttemptRow).values(row))
                for position in (1, 0) if annotator == mine else (2,):
                    await attempts_store.add_answer(session, annotator, number, answer(position, number))
    expected = [
        Attempt(number, TrainingState.FAILED, NOON, None, (answer(0, number), answer(1, number))) for number in (1, 2)
    ]
    async with stored.read() as reading:
        assert await attempts_store.list_attempts(reading, mine) == expected
        last = await attempts_store.find_last_attempt(reading, mine)
        assert last == Attempt(2, TrainingState.FAILED, NOON, None, ())
        nobody = await attempts_store.find_last_attempt(reading, new_id())
    assert nobody is None


async def test_turns_of_an_item_are_those_up_to_an_exchange(stored: SavepointDatabase):
    async with stored.write() as session:
        campaign = await store_campaign(session)
        mine, _ = await store_packages(session, campaign, 2, items=2)
    async with stored.read() as reading:
        found = {
            (position, exchanges): await assignments_store.find_turns(reading, mine, position, exchanges=exchanges)
            for position in (0, 1, 2)
            for exchanges in (0, 1)
        }
    said = [turn["text"] for turn in TURNS]
    assert {place: [turn.text for turn in turns] for place, turns in found.items()} == {
        (position, exchanges): said if position < 2 and exchanges else []
        for position in (0, 1, 2)
        for exchanges in (0, 1)
    }


class TestLatestParameters:
    """An annotator is at work for the panel's assignment with which they entered last before."""

    async def test_are_the_last_that_are_not_empty_up_to_that_moment(self, stored: SavepointDatabase):
        entered = {0: {"assignmentId": "a"}, 1: {"assignmentId": "b"}, 2: {}, 3: {"assignmentId": "c"}}
        async with stored.write() as session:
            campaign = await store_campaign(session)
            mine, other = await store_annotators(session, campaign, ["ann", "bob"])
            link = new_id()
            await session.execute(insert(EntryLinkRow).values(id=link, campaign_id=campaign, expires_at=NOON))
            for hours, parameters in entered.items():
                await _enter(session, mine, link, parameters, hours)
            await _enter(session, other, link, {"assignmentId": "bob's"}, 2)
            found = {
                hours: await entry_links_store.latest_parameters(session, mine, until=NOON + timedelta(hours=hours))
                for hours in (-1, 0, 1, 2, 3, 9)
            }
        assert found == {-1: {}, 0: entered[0], 1: entered[1], 2: entered[1], 3: entered[3], 9: entered[3]}


async def _enter(session: WriteSession, annotator: UUID, link: UUID, parameters: dict[str, str], hours: int) -> None:
    at = NOON + timedelta(hours=hours)
    await entry_links_store.add_entry(session, link, annotator, parameters, at)
    await entry_links_store.add_entry(session, link, annotator, parameters, at + timedelta(days=9))  # changes nothing
