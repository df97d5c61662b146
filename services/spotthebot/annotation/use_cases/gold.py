"""Gold items between the others of an assignment: given with its package, answered as the others, and graded."""

from dataclasses import replace
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.answers import AnsweredItem
from spotthebot.annotation.domain.assignments import Assignment, Lease, ShownItem
from spotthebot.annotation.domain.campaigns import Campaign, Terms
from spotthebot.annotation.domain.errors import NoSuchItem
from spotthebot.annotation.domain.gold import place_gold
from spotthebot.annotation.domain.shuffle import Shuffle
from spotthebot.annotation.domain.trainings.grades import grade, mistakes
from spotthebot.annotation.use_cases.terms import terms_of
from spotthebot.contracts.assignments import AssignmentId
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.statements import Runner


async def get_assignment(session: ReadSession, assignment_id: UUID, frontend: str) -> Assignment:
    """Return an assignment with all its items, in the order of their positions."""
    assignment = await store.assignments.get_assignment(session, assignment_id, frontend)
    gold = (await terms_of(session, assignment.lease.campaign_id)).gold
    if gold is None:
        return assignment
    shown = [
        ShownItem(None, placed.position, (), gold.dialogues[placed.dialogue].turns[: placed.turns], None, item.draft)
        for item, placed in await store.gold.list_items(session, assignment_id, gold)
    ]
    return replace(assignment, items=tuple(sorted([*assignment.items, *shown], key=lambda item: item.position)))


async def list_items(runner: Runner, terms: Terms, lease: Lease) -> list[AnsweredItem]:
    """Return all items of an assignment with what was answered, in the order of their positions."""
    items = await store.answers.list_items(runner, lease)
    if terms.gold is not None:
        items += [item for item, _ in await store.gold.list_items(runner, lease.id, terms.gold)]
    return sorted(items, key=lambda item: item.position)


async def get_gold_item(runner: Runner, terms: Terms, lease: Lease, position: int) -> AnsweredItem:
    """Return the gold item at a position where no other item stands; raises NoSuchItem where there is none."""
    if terms.gold is not None:
        for item, _ in await store.gold.list_items(runner, lease.id, terms.gold, position=position):
            return item
    raise NoSuchItem(position=position, last=(await list_items(runner, terms, lease))[-1].position)


async def add_gold(
    session: WriteSession, campaign: Campaign, assignment_id: AssignmentId, annotator_id: UUID, package_id: UUID
) -> None:
    """Put gold dialogues that an annotator has not seen at the positions that their new package leaves free.

    Raises NothingLeft where too few are left.
    """
    terms = await terms_of(session, campaign.id)
    if campaign.gold is None or terms.gold is None:
        return
    turns = await store.gold.list_turns(session, package_id)
    places = range(len(turns) + campaign.gold.per_package)
    placed = place_gold(
        terms.gold,
        Shuffle(await store.campaigns.read_secret(session, campaign.id), campaign.seed),
        annotator_id,
        positions=[position for position in places if position not in turns],
        seen=await store.gold.list_seen(session, annotator_id),
        lengths=[turns[position] for position in sorted(turns)] if terms.protocol.unit.kind == "segment" else [],
    )
    await store.gold.add_items(session, assignment_id, annotator_id, placed)


async def grade_gold(session: WriteSession, lease: Lease) -> list[bool]:
    """Compare the answers to an assignment's gold items with the right ones, and return which are right."""
    terms = await terms_of(session, lease.campaign_id)
    if terms.gold is None:
        return []
    found: dict[int, tuple[int, bool]] = {}
    for item, placed in await store.gold.list_items(session, lease.id, terms.gold):
        whole = terms.gold.dialogues[placed.dialogue]
        dialogue = whole.model_copy(update={"turns": whole.turns[: placed.turns]})
        wrong = mistakes(grade(terms.gold, terms.protocol, dialogue, item.draft.answer))
        found[placed.position] = wrong, wrong <= terms.gold.allowed_mistakes
    await store.gold.put_mistakes(session, lease.id, found)
    return [is_right for _, is_right in found.values()]
