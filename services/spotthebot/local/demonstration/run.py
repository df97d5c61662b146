"""The demonstration: built-in bots converse, simulated annotators label the conversations, and a ranking follows.

The first exchange of a human dialogue opens each conversation and is hidden, as in the published data; human-human
conversations hide their first exchange too, so that all conversations begin alike. Human-human conversations come from
the split `openings`, since bots learn from the split `train` and would quote it. Dialogues of human-human conversations
open no conversation of bots. Annotators claim packages one after the other, so that the seed alone decides which
annotator gets which package.
"""

import asyncio
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import UUID

from pydantic import SecretStr

from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.entries import EntryLinkIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn, CollectionOut, CollectionState
from spotthebot.contracts.conversations.openings import HumanPool, Opening
from spotthebot.contracts.fed.score_jobs import ScoreJobIn, ScoreSetOut
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.local.background import poll_until, wait_until_built
from spotthebot.local.demonstration.judge import DemoJudges, judge_demo
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from spotthebot.local.sample import DOMAIN
from spotthebot.local.scoring.collections import offer_model, score_collection
from spotthebot.local.seeding import BUILT_IN, register_built_in, simulated_annotators, upload_sample
from spotthebot.simulation.work import annotate

NAME: Final = "demo"
"""The name of the first demonstration's campaign and collection."""
_EXCHANGES = 5
_SEGMENTS = (2, 3, 5)
_CONVERSATIONS_PER_PAIR = 12
_HUMAN_CONVERSATIONS = 30
_ANNOTATIONS_PER_SEGMENT = 2
_PACKAGE_SIZE = 20
_ANNOTATORS = 12
_VISITORS_PACKAGE = 5
_VISITOR = "you"
_SCORER: Final = "demo-scorer"
_TRAINING_STEPS: Final = 80


@dataclass(frozen=True)
class Demonstration:
    """The results of a demonstration, and the collection of its conversations.

    `scores` are None if torch is not installed, or if the services run elsewhere.
    """

    collection_id: UUID
    analysis: Analysis
    judged: DemoJudges
    scores: ScoreSetOut | None


async def run_demo(clients: Clients, folder: DataFolder | None, steps: Steps, *, seed: int) -> Demonstration:
    """Run the whole demonstration and return its results; `folder` is None if the services run elsewhere."""
    corpus_id = await _upload_corpus(clients, steps)
    bot_ids = await _register_bots(clients, corpus_id, steps)
    name = await _free_name(clients)
    collection = await _collect(clients, name, corpus_id, bot_ids, seed, steps)
    campaign = await _build(clients, collection, seed, steps)
    with steps.step("Simulated annotators at work", total=campaign.annotations_needed) as step:
        annotators = simulated_annotators(_ANNOTATORS, seed=seed)
        await annotate(clients.tasks, campaign, annotators, step.advance)
    with steps.step("Computing the ranking", total=1):
        analysis = await clients.analytics.analysis(campaign.id)
    judged = await judge_demo(clients, campaign, steps, seed=seed)
    scores = await score_demo(clients, folder, collection.id, steps, seed=seed)
    return Demonstration(collection.id, analysis, judged, scores)


async def offer_package(clients: Clients, shown: Demonstration, *, seed: int) -> str:
    """Return the path and query of a page on which a person labels one package of the demonstration's dialogues.

    The package is in a separate campaign, so that the simulated annotators' results stay unchanged.
    """
    request = CampaignIn(
        name=f"{shown.analysis.campaign}-by-you",
        domain=DOMAIN,
        collections=(shown.collection_id,),
        segments=(_EXCHANGES,),
        annotations_per_segment=1,
        package_size=_VISITORS_PACKAGE,
        seed=seed,
    )
    campaign = await wait_until_built(clients.annotation, await clients.annotation.create_campaign(request))
    link = await clients.annotation.create_entry_link(campaign.id, EntryLinkIn(annotator=_VISITOR))
    return f"/annotate/{campaign.id}?{link.query}"


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


async def _free_name(clients: Clients) -> str:
    """Return `demo`, or `demo-2` and so on if earlier demonstrations have the name."""
    number, name = 1, NAME
    while await _is_taken(clients, name):
        number += 1
        name = f"{NAME}-{number}"
    return name


async def _is_taken(clients: Clients, name: str) -> bool:
    campaigns_there = await clients.annotation.list_campaigns(name=name).page()
    collections_there = await clients.conversations.list_collections(name=name).page()
    return bool(campaigns_there.items or collections_there.items)


async def _collect(
    clients: Clients, name: str, corpus_id: UUID, bot_ids: Sequence[UUID], seed: int, steps: Steps
) -> CollectionOut:
    request = AllPlayAllIn(
        mode="all_play_all",
        name=name,
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
        name=collection.name,
        domain=DOMAIN,
        collections=(collection.id,),
        segments=_SEGMENTS,
        annotations_per_segment=_ANNOTATIONS_PER_SEGMENT,
        package_size=_PACKAGE_SIZE,
        seed=seed,
        # No secret is needed against simulated annotators: the seed alone decides the demonstration.
        secret=SecretStr(sha256(f"demo/{seed}".encode()).hexdigest()),
    )
    with steps.step("Building packages", total=1):
        return await wait_until_built(clients.annotation, await clients.annotation.create_campaign(request))


async def score_demo(
    clients: Clients, folder: DataFolder | None, collection_id: UUID, steps: Steps, *, seed: int
) -> ScoreSetOut | None:
    """Score every bot's dialogues by their overall quality.

    Returns None if torch is not installed, or if there is no data folder for the trained model.
    """
    if folder is None or importlib.util.find_spec("torch") is None:
        return None
    with steps.step("Training a scorer on the sample corpus", total=1):
        scorer = await _train(folder)
    model = await asyncio.to_thread(offer_model, folder, str(scorer), beside=folder.path)
    request = ScoreJobIn(
        collection_id=collection_id,
        scorer=ScorerIn(
            model=model,
            mode="followup_mean",
            polarity="negatives",
            dimensions=("overall",),
            dimension_set=DimensionSetRef(set="bipartite"),
            over_long="truncate_oldest_turns",
        ),
        level="dialogue",
        seed=seed,
    )
    return await score_collection(clients, request, steps)


async def _train(folder: DataFolder) -> Path:
    """Train the model in a separate process, unless an earlier demonstration on this data folder trained it."""
    target = (folder.path / _SCORER).absolute()
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(prefix=".training-", dir=folder.path) as unfinished:
        out = Path(unfinished) / "model"
        command = ("-m", "spotthebot.cli", "fed", "train-scorer", "sample", "--out", str(out))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *command, "--steps", str(_TRAINING_STEPS)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        if process.returncode:
            reason = " ".join(said.decode(errors="replace").split())[-500:]
            raise JobFailed(what="Training the scorer", reason=reason)
        shutil.move(out, target)
    return target
