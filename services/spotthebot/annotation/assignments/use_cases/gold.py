"""Gold items of an assignment: added to the package, answered like other items, and graded.

Gold items work for every unit. The unit decides which part of a gold dialogue is shown, and whether its exchanges are
opened one by one.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from spotthebot.annotation.assignments.domain.answers import AnsweredItem
from spotthebot.annotation.assignments.domain.assignments import Assignment, LeasedItem, ShownItem
from spotthebot.annotation.assignments.domain.gold import PlacedGold, check_alike, place_gold
from spotthebot.annotation.assignments.errors import NoSuchItem
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import gold as gold_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign, Terms, unit_of
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.trainings.domain.grades import grade, mistakes
from spotthebot.contracts.annotation.assignments import AssignmentId
from spotthebot.contracts.annotation.trainings import TrainingDialogue
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner


@dataclass(frozen=True)
class GoldItem:
    """A gold item with its draft, its visible turns, and their right answers."""

    item: AnsweredItem
    shown: ShownItem
    dialogue: TrainingDialogue


def gold_item(terms: Terms, item: AnsweredItem, placed: PlacedGold) -> GoldItem:
    """Return the visible turns and right answers of a gold item; `item` has its draft."""
    if terms.gold is None:
        message = "a campaign without gold has a gold item"
        raise RuntimeError(message)
    dialogue, opening = placed.shown_of(terms.gold), placed.extent.opening
    speakers = "".join(turn.speaker for turn in dialogue.turns)
    first, later = dialogue.turns[:opening], dialogue.turns[opening:]
    return GoldItem(
        replace(item, speakers=speakers, is_pair=dialogue.right_turns is not None),
        ShownItem(None, placed.position, first, later, dialogue.right_turns, item.draft),
        dialogue,
    )


async def list_gold_items(runner: Runner, terms: Terms, assignment_id: UUID) -> list[GoldItem]:
    """Return the gold items of an assignment, in the order of their positions."""
    if terms.gold is None:
        return []
    return [gold_item(terms, *found) for found in await gold_store.list_items(runner, assignment_id)]


async def get_assignment(session: ReadSession, assignment_id: UUID, frontend: str) -> Assignment:
    """Return an assignment with all its items, in the order of their positions."""
    assignment = await assignments_store.get_assignment(session, assignment_id, frontend)
    terms = await terms_of(session, assignment.lease.campaign_id)
    gold = await list_gold_items(session, terms, assignment_id)
    items = [*assignment.items, *(each.shown for each in gold)]
    return replace(assignment, items=tuple(sorted(items, key=lambda item: item.position)))


async def list_items(runner: Runner, terms: Terms, lease: Lease) -> list[AnsweredItem]:
    """Return all items of an assignment with their answers, in the order of their positions."""
    items = await answers_store.list_items(runner, lease)
    items += [each.item for each in await list_gold_items(runner, terms, lease.id)]
    return sorted(items, key=lambda item: item.position)


async def require_item(runner: Runner, terms: Terms, found: LeasedItem, position: int) -> AnsweredItem:
    """Return the item or gold item found at a position; raises NoSuchItem."""
    if found.item is None:
        raise NoSuchItem(position=position, last=(await list_items(runner, terms, found.lease))[-1].position)
    return found.item if found.gold is None else gold_item(terms, found.item, found.gold).item


async def require_alike(session: ReadSession, campaign: Campaign) -> None:
    """Raise GoldStandsOut if annotators could recognise a gold dialogue without reading it."""
    terms = await terms_of(session, campaign.id)
    if terms.gold is not None:
        speakers = await gold_store.list_speakers(session, campaign.id)
        check_alike(terms.gold, speakers, is_cut=_is_cut(campaign, terms))


def _is_cut(campaign: Campaign, terms: Terms) -> bool:
    """Return whether items and gold items are cut at a length; otherwise all of them are shown whole."""
    return bool(unit_of(terms.protocol, campaign.segments).lengths)


async def add_gold(
    session: WriteSession, campaign: Campaign, assignment_id: AssignmentId, annotator_id: UUID, package_id: UUID
) -> None:
    """Put gold dialogues that an annotator has not seen at the free positions of their new package.

    Raises NothingLeft if too few gold dialogues are left.
    """
    terms = await terms_of(session, campaign.id)
    if campaign.gold is None or terms.gold is None:
        return
    extents = await gold_store.list_extents(session, package_id)
    places = range(len(extents) + campaign.gold.per_package)
    placed = place_gold(
        terms.gold,
        Shuffle(await campaigns_store.read_secret(session, campaign.id), campaign.seed),
        annotator_id,
        positions=[position for position in places if position not in extents],
        seen=await gold_store.list_seen(session, annotator_id),
        extents=[extents[position] for position in sorted(extents)] if _is_cut(campaign, terms) else [],
    )
    await gold_store.add_items(session, assignment_id, annotator_id, placed)


async def grade_gold(session: WriteSession, lease: Lease) -> list[bool]:
    """Compare the answers to an assignment's gold items with the right answers, and return which are right."""
    terms = await terms_of(session, lease.campaign_id)
    if terms.gold is None:
        return []
    found: dict[int, tuple[int, bool]] = {}
    for gold in await list_gold_items(session, terms, lease.id):
        wrong = mistakes(grade(terms.gold, terms.protocol, gold.dialogue, gold.item.draft.answer))
        found[gold.item.position] = wrong, wrong <= terms.gold.allowed_mistakes
    await gold_store.put_mistakes(session, lease.id, found)
    return [is_right for _, is_right in found.values()]
