"""Gold items between the others of an assignment: given with its package, answered as the others, and graded.

They serve every unit: what tells units apart is which part of a gold dialogue is shown, and how it is opened.
"""

from dataclasses import replace
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.answers import AnsweredItem
from spotthebot.annotation.domain.assignments import Assignment, Lease, ShownItem
from spotthebot.annotation.domain.campaigns import Campaign, Terms, unit_of
from spotthebot.annotation.domain.errors import NoSuchItem
from spotthebot.annotation.domain.gold import PlacedGold, check_alike, place_gold
from spotthebot.annotation.domain.shuffle import Shuffle
from spotthebot.annotation.domain.trainings.grades import grade, mistakes
from spotthebot.annotation.use_cases.terms import terms_of
from spotthebot.contracts.assignments import AssignmentId
from spotthebot.contracts.trainings import Training
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.statements import Runner


async def get_assignment(session: ReadSession, assignment_id: UUID, frontend: str) -> Assignment:
    """Return an assignment with all its items, in the order of their positions."""
    assignment = await store.assignments.get_assignment(session, assignment_id, frontend)
    gold = (await terms_of(session, assignment.lease.campaign_id)).gold
    if gold is None:
        return assignment
    found = await store.gold.list_items(session, assignment_id, gold)
    items = [*assignment.items, *(_shown_item(item, placed, gold) for item, placed in found)]
    return replace(assignment, items=tuple(sorted(items, key=lambda item: item.position)))


def _shown_item(item: AnsweredItem, placed: PlacedGold, gold: Training) -> ShownItem:
    shown, opening = placed.shown_of(gold), placed.extent.opening
    return ShownItem(None, placed.position, shown.turns[:opening], shown.turns[opening:], shown.right_turns, item.draft)


async def list_items(runner: Runner, terms: Terms, lease: Lease) -> list[AnsweredItem]:
    """Return all items of an assignment with what was answered, in the order of their positions."""
    items = await store.answers.list_items(runner, lease)
    if terms.gold is not None:
        items += [item for item, _ in await store.gold.list_items(runner, lease.id, terms.gold)]
    return sorted(items, key=lambda item: item.position)


async def get_gold_item(runner: Runner, terms: Terms, lease: Lease, position: int) -> tuple[AnsweredItem, ShownItem]:
    """Return the gold item at a position where no other item stands, and what it shows.

    Raises NoSuchItem where there is none.
    """
    if terms.gold is not None:
        for item, placed in await store.gold.list_items(runner, lease.id, terms.gold, position=position):
            return item, _shown_item(item, placed, terms.gold)
    raise NoSuchItem(position=position, last=(await list_items(runner, terms, lease))[-1].position)


async def require_alike(session: ReadSession, campaign: Campaign) -> None:
    """Raise GoldStandsOut where a gold dialogue could be told from the campaign's items without reading."""
    terms = await terms_of(session, campaign.id)
    if terms.gold is not None:
        speakers = await store.gold.list_speakers(session, campaign.id)
        check_alike(terms.gold, speakers, is_cut=_is_cut(campaign, terms))


def _is_cut(campaign: Campaign, terms: Terms) -> bool:
    """Whether items show conversations up to a length, and gold items as far; else both are shown whole."""
    return bool(unit_of(terms.protocol, campaign.segments).lengths)


async def add_gold(
    session: WriteSession, campaign: Campaign, assignment_id: AssignmentId, annotator_id: UUID, package_id: UUID
) -> None:
    """Put gold dialogues that an annotator has not seen at the positions that their new package leaves free.

    Raises NothingLeft where too few are left.
    """
    terms = await terms_of(session, campaign.id)
    if campaign.gold is None or terms.gold is None:
        return
    extents = await store.gold.list_extents(session, package_id)
    places = range(len(extents) + campaign.gold.per_package)
    placed = place_gold(
        terms.gold,
        Shuffle(await store.campaigns.read_secret(session, campaign.id), campaign.seed),
        annotator_id,
        positions=[position for position in places if position not in extents],
        seen=await store.gold.list_seen(session, annotator_id),
        extents=[extents[position] for position in sorted(extents)] if _is_cut(campaign, terms) else [],
    )
    await store.gold.add_items(session, assignment_id, annotator_id, placed)


async def grade_gold(session: WriteSession, lease: Lease) -> list[bool]:
    """Compare the answers to an assignment's gold items with the right ones, and return which are right."""
    terms = await terms_of(session, lease.campaign_id)
    if terms.gold is None:
        return []
    found: dict[int, tuple[int, bool]] = {}
    for item, placed in await store.gold.list_items(session, lease.id, terms.gold):
        wrong = mistakes(grade(terms.gold, terms.protocol, placed.shown_of(terms.gold), item.draft.answer))
        found[placed.position] = wrong, wrong <= terms.gold.allowed_mistakes
    await store.gold.put_mistakes(session, lease.id, found)
    return [is_right for _, is_right in found.values()]
