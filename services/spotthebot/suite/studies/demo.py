"""The demonstration: built-in bots converse, simulated annotators label what they said, and a ranking follows."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from pydantic import SecretStr

from spotthebot.clients import AsyncAnnotation, Conflict
from spotthebot.contracts.analytics import Analysis
from spotthebot.contracts.annotation import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.assignments import AnswerIn, AssignmentOut, ClaimIn, ItemOut
from spotthebot.contracts.conversations import AllPlayAllIn, CollectionOut, CollectionState, HumanPool, Opening
from spotthebot.suite.errors import JobFailed
from spotthebot.suite.poll import poll_until
from spotthebot.suite.progress import Step, Steps
from spotthebot.suite.runtime.session import Clients
from spotthebot.suite.sample import DOMAIN, sample_dialogues
from spotthebot.suite.seeding import BUILT_IN, register_built_in, upload_sample
from spotthebot.suite.simulation import SimulatedAnnotator, crowd
from spotthebot.suite.studies import ranking

_EXCHANGES = 5
_SEGMENTS = (2, 3, 5)
_CONVERSATIONS_PER_PAIR = 8
_HUMAN_CONVERSATIONS = 30
_ANNOTATIONS_PER_SEGMENT = 2
_PACKAGE_SIZE = 20
_ANNOTATORS = 12
_INSTRUCTIONS = "Say for each side whether it is a human or a bot, and which side was more fluent, sensible, specific."
_AT_ONCE = 8


@dataclass(frozen=True)
class Demonstration:
    """The results of a demonstration, and the collection that they come from."""

    collection_id: UUID
    analysis: Analysis


async def run_demo(clients: Clients, steps: Steps, *, seed: int) -> Demonstration:
    """Play the whole study and return its results."""
    corpus_id = await _upload_corpus(clients, steps)
    bot_ids = await _register_bots(clients, corpus_id, steps)
    collection = await _collect(clients, corpus_id, bot_ids, seed, steps)
    campaign = await _build(clients, collection, seed, steps)
    await _annotate(clients, campaign, seed, steps)
    with steps.step("Computing the ranking", total=1):
        analysis = await ranking.rank(clients, campaign.id, {"seed": seed})
    return Demonstration(collection.id, analysis)


async def _upload_corpus(clients: Clients, steps: Steps) -> UUID:
    with steps.step("Uploading the sample corpus", total=1):
        return await upload_sample(clients)


async def _register_bots(clients: Clients, corpus_id: UUID, steps: Steps) -> list[UUID]:
    ids = []
    with steps.step("Registering bots", total=len(BUILT_IN)) as step:
        for model in BUILT_IN:
            ids.append(await register_built_in(clients, model, domain=DOMAIN, corpus_id=corpus_id))
            step.advance()
    return ids


async def _collect(
    clients: Clients, corpus_id: UUID, bot_ids: Sequence[UUID], seed: int, steps: Steps
) -> CollectionOut:
    request = AllPlayAllIn(
        mode="all_play_all",
        name="demo",
        domain=DOMAIN,
        bots=tuple(bot_ids),
        exchanges=_EXCHANGES,
        conversations_per_pair=_CONVERSATIONS_PER_PAIR,
        order="both",
        opening=Opening(corpus_id=corpus_id, take="first_exchange", shown=False),
        humans=HumanPool(corpus_id=corpus_id, conversations=_HUMAN_CONVERSATIONS),
        seed=seed,
    )
    with steps.step("Collecting conversations") as step:
        collection = await clients.conversations.create_collection(request)
        done = await poll_until(
            lambda: clients.conversations.get_collection(collection.id),
            lambda found: found.state is CollectionState.COMPLETE,
            "Collecting conversations",
            on_progress=lambda found: step.at(found.complete + found.failed, found.conversations),
        )
    if done.failed:
        raise JobFailed(what="The collection", reason=f"{done.failed} conversations ended early.")
    return done


async def _build(clients: Clients, collection: CollectionOut, seed: int, steps: Steps) -> CampaignOut:
    request = CampaignIn(
        name=f"demo (simulated annotators, {str(collection.id)[-6:]})",
        domain=DOMAIN,
        collection_id=collection.id,
        segments=_SEGMENTS,
        annotations_per_segment=_ANNOTATIONS_PER_SEGMENT,
        package_size=_PACKAGE_SIZE,
        instructions=_INSTRUCTIONS,
        seed=seed,
        # Simulated annotators are kept from nothing by a secret: the seed alone decides the demonstration.
        secret=SecretStr(sha256(f"demo/{seed}".encode()).hexdigest()),
    )
    with steps.step("Building packages", total=1):
        campaign = await clients.annotation.create_campaign(request)
        built = await poll_until(
            lambda: clients.annotation.get_campaign(campaign.id),
            lambda found: found.state is not CampaignState.BUILDING,
            "Building packages",
        )
    if built.failure:
        raise JobFailed(what="The campaign", reason=built.failure)
    return built


async def _annotate(clients: Clients, campaign: CampaignOut, seed: int, steps: Steps) -> None:
    """Let the annotators take turns at claiming, so that the seed alone decides which annotator gets which package."""
    dialogues = [tuple(each["turns"]) for each in sample_dialogues() if each["split"] == "train"]
    waiting = list(crowd(_ANNOTATORS, seed=seed, dialogues=dialogues))
    with steps.step("Simulated annotators at work", total=campaign.annotations_needed) as step:
        while waiting:
            for annotator in list(waiting):
                assignment = await _claim(clients.tasks, campaign.id, annotator)
                if assignment is None:
                    waiting.remove(annotator)
                else:
                    await _submit(clients.tasks, assignment, annotator, step)


async def _claim(tasks: AsyncAnnotation, campaign_id: UUID, annotator: SimulatedAnnotator) -> AssignmentOut | None:
    try:
        return await tasks.claim_package(campaign_id, ClaimIn(annotator=annotator.name))
    except Conflict:  # nothing left for this annotator, or for anybody
        return None


async def _submit(tasks: AsyncAnnotation, assignment: AssignmentOut, annotator: SimulatedAnnotator, step: Step) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def annotate(item: ItemOut) -> None:
        said = annotator.annotate(tuple((turn.speaker, turn.text) for turn in item.turns))
        async with free:
            await tasks.save_answer(assignment.id, item.position, AnswerIn(answer=said.decision, show_step=2))
            whole = AnswerIn(answer=said.answer, elapsed_ms=said.elapsed_ms)
            await tasks.save_answer(assignment.id, item.position, whole)
        step.advance()

    await asyncio.gather(*(annotate(item) for item in assignment.items))
    await tasks.submit_assignment(assignment.id)
