"""The demonstration: built-in bots converse, simulated annotators label what they said, and a ranking follows."""

import asyncio
from collections.abc import Sequence
from typing import Any

from spotthebot.kit.client import PeerRefused, ServiceClient
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


async def run_demo(clients: Clients, steps: Steps, *, seed: int) -> dict[str, Any]:
    """Play the whole study and return its results, with where they can be read again."""
    corpus_id = await _upload_corpus(clients, steps)
    bot_ids = await _register_bots(clients, corpus_id, steps)
    collection = await _collect(clients, corpus_id, bot_ids, seed, steps)
    campaign = await _build(clients, collection, seed, steps)
    await _annotate(clients, campaign, seed, steps)
    with steps.step("Computing the ranking", total=1):
        results = await ranking.rank(clients, campaign["id"], {"seed": seed})
    return {"simulated_annotators": True, "collection_id": collection["id"], **results}


async def _upload_corpus(clients: Clients, steps: Steps) -> str:
    with steps.step("Uploading the sample corpus", total=1):
        return await upload_sample(clients)


async def _register_bots(clients: Clients, corpus_id: str, steps: Steps) -> list[str]:
    ids = []
    with steps.step("Registering bots", total=len(BUILT_IN)) as step:
        for model in BUILT_IN:
            ids.append(await register_built_in(clients, model, domain=DOMAIN, corpus_id=corpus_id))
            step.advance()
    return ids


async def _collect(clients: Clients, corpus_id: str, bot_ids: Sequence[str], seed: int, steps: Steps) -> dict[str, Any]:
    plan = {
        "mode": "all_play_all",
        "name": "demo",
        "domain": DOMAIN,
        "bots": bot_ids,
        "exchanges": _EXCHANGES,
        "conversations_per_pair": _CONVERSATIONS_PER_PAIR,
        "order": "both",
        "opening": {"corpus_id": corpus_id, "take": "first_exchange", "shown": False},
        "humans": {"corpus_id": corpus_id, "conversations": _HUMAN_CONVERSATIONS},
        "seed": seed,
    }
    with steps.step("Collecting conversations") as step:
        collection = await clients.conversations.post("/v1/collections", plan)
        done = await poll_until(
            clients.conversations,
            f"/v1/collections/{collection['id']}",
            lambda found: found["state"] == "complete",
            "Collecting conversations",
            on_progress=lambda found: step.at(found["complete"] + found["failed"], found["conversations"]),
        )
    if done["failed"]:
        raise JobFailed(what="The collection", reason=f"{done['failed']} conversations ended early.")
    return done


async def _build(clients: Clients, collection: dict[str, Any], seed: int, steps: Steps) -> dict[str, Any]:
    with steps.step("Building packages", total=1):
        campaign = await clients.annotation.post(
            "/v1/campaigns",
            {
                "name": f"demo (simulated annotators, {collection['id'][-6:]})",
                "domain": DOMAIN,
                "collection_id": collection["id"],
                "segments": _SEGMENTS,
                "annotations_per_segment": _ANNOTATIONS_PER_SEGMENT,
                "package_size": _PACKAGE_SIZE,
                "instructions": _INSTRUCTIONS,
                "seed": seed,
            },
        )
        built = await poll_until(
            clients.annotation,
            f"/v1/campaigns/{campaign['id']}",
            lambda found: found["state"] != "building",
            "Building packages",
        )
    if built["failure"]:
        raise JobFailed(what="The campaign", reason=built["failure"])
    return built


async def _annotate(clients: Clients, campaign: dict[str, Any], seed: int, steps: Steps) -> None:
    """Let the annotators take turns at claiming, so that the seed alone decides which annotator gets which package."""
    dialogues = [tuple(each["turns"]) for each in sample_dialogues() if each["split"] == "train"]
    waiting = list(crowd(_ANNOTATORS, seed=seed, dialogues=dialogues))
    with steps.step("Simulated annotators at work", total=campaign["annotations_needed"]) as step:
        while waiting:
            for annotator in list(waiting):
                assignment = await _claim(clients.tasks, campaign["id"], annotator)
                if assignment is None:
                    waiting.remove(annotator)
                else:
                    await _submit(clients.tasks, assignment, annotator, step)


async def _claim(tasks: ServiceClient, campaign_id: str, annotator: SimulatedAnnotator) -> dict[str, Any] | None:
    try:
        claimed: dict[str, Any] = await tasks.post(
            f"/v1/campaigns/{campaign_id}/assignments", {"annotator": annotator.name}
        )
    except PeerRefused as refused:
        if refused.status in {404, 409}:  # nothing left for this one, or for anybody
            return None
        raise
    return claimed


async def _submit(tasks: ServiceClient, assignment: dict[str, Any], annotator: SimulatedAnnotator, step: Step) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def annotate(segment: dict[str, Any]) -> None:
        seen = tuple((turn["speaker"], turn["text"]) for turn in segment["turns"])
        body = annotator.annotate(seen).model_dump(mode="json")
        async with free:
            await tasks.put(f"/v1/assignments/{assignment['id']}/annotations/{segment['id']}", body)
        step.advance()

    await asyncio.gather(*(annotate(segment) for segment in assignment["segments"]))
