"""The data for a soak: bots, campaigns over their conversations, and a collection in which people chat.

The soak opens one campaign after the other. A single growing campaign would make caches grow, too, and so hide leaks.
"""

from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn, CollectionState
from spotthebot.local.background import poll_until, wait_until_built
from spotthebot.local.loadtest.plan import LoadPlan
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.local.sample import DOMAIN
from spotthebot.local.seeding import BUILT_IN, LEARNING, upload_sample

EXCHANGES = 5
_SEGMENTS = (2, 3, 5)
_ANNOTATIONS_PER_SEGMENT = 3
_PACKAGE_SIZE = 10
_CHAT_TURNS = 10


@dataclass(frozen=True)
class MadeData:
    """The ids of the data made for a soak."""

    name: str
    bots: tuple[UUID, ...]
    collection: UUID
    campaign: UUID
    """The first one."""
    chats: UUID


async def prepare(clients: Clients, plan: LoadPlan, name: str, steps: Steps) -> MadeData:
    """Register the bots, let each bot talk once to every bot, and open the first campaign and chats."""
    with steps.step("Registering bots", total=plan.bots) as step:
        corpus_id = await upload_sample(clients)
        bots = []
        for number in range(plan.bots):
            model = BUILT_IN[number % len(BUILT_IN)]
            protocol = {"kind": "builtin", "model": model} | ({"corpus_id": corpus_id} if model in LEARNING else {})
            request = BotIn(
                name=f"{name}-{number + 1:02}",
                description="Registered by ./stb loadtest.",
                domains=(DOMAIN,),
                protocol=BuiltinProtocol.model_validate(protocol),
            )
            bots.append((await clients.bots.register_bot(request)).id)
            step.advance()
    with steps.step("Collecting conversations to annotate") as step:
        collection = await clients.conversations.create_collection(
            AllPlayAllIn(
                mode="all_play_all",
                name=name,
                domain=DOMAIN,
                bots=tuple(bots),
                exchanges=EXCHANGES,
                conversations_per_pair=1,
                seed=plan.seed,
            )
        )
        await poll_until(
            lambda: clients.conversations.get_collection(collection.id),
            lambda found: found.state is CollectionState.COMPLETE,
            "Collecting conversations",
            on_progress=lambda found: step.at(found.complete + found.failed, found.conversations),
        )
    with steps.step("Building packages", total=1):
        campaign = await open_campaign(clients, plan, name, collection.id, 1)
    chats = await clients.conversations.create_collection(
        HumanBotIn(
            mode="human_bot",
            name=f"{name}-chats",
            domain=DOMAIN,
            bots=tuple(bots),
            bots_per_chat=1,
            minimum_turns=2,
            maximum_turns=_CHAT_TURNS,
            seed=plan.seed,
        )
    )
    return MadeData(name, tuple(bots), collection.id, campaign, chats.id)


async def open_campaign(clients: Clients, plan: LoadPlan, name: str, collection: UUID, number: int) -> UUID:
    """Open the next campaign over the same conversations; return its id."""
    request = CampaignIn(
        name=f"{name}-{number}",
        domain=DOMAIN,
        collections=(collection,),
        segments=_SEGMENTS,
        annotations_per_segment=_ANNOTATIONS_PER_SEGMENT,
        package_size=_PACKAGE_SIZE,
        seed=plan.seed,
    )
    return (await wait_until_built(clients.annotation, await clients.annotation.create_campaign(request))).id
