"""Estimating what a collection would cost, without starting it."""

from spotthebot.contracts.bots import BotOut
from spotthebot.contracts.conversations import EstimateOut, PlannedIn
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.estimates import Speaker, estimate
from spotthebot.conversations.domain.plans import count_conversations, list_human_dialogues
from spotthebot.conversations.use_cases.collections.participants import find_participants
from spotthebot.conversations.use_cases.collections.start import list_dialogues
from spotthebot.kit.database import Database


async def estimate_collection(database: Database, bots: Bots, plan: PlannedIn) -> EstimateOut:
    """Return what a collection would cost; raises every error that starting it would raise."""
    participants = await find_participants(database, bots, plan)
    conversations = count_conversations(plan, len(participants.partners))
    too_short = 0
    async with database.read() as session:
        if plan.opening is not None:
            await list_dialogues(session, plan.opening.corpus_id, plan.opening.split)
        if plan.humans is not None:
            dialogues = await list_dialogues(session, plan.humans.corpus_id, plan.humans.split)
            too_short = len(dialogues) - len(list_human_dialogues(plan, plan.humans, dialogues))
    return estimate(
        [_speaker(bot) for bot in participants.bots],
        [_speaker(bot) for bot in participants.partners],
        conversations=conversations,
        by_people=plan.humans.conversations if plan.humans else 0,
        too_short=too_short,
        exchanges=plan.exchanges,
        warnings=participants.warnings(plan.domain),
    )


def _speaker(bot: BotOut) -> Speaker:
    latency = bot.probe.latency if bot.probe else None
    return Speaker(bot.name, latency.p50_ms / 1000 if latency else None, bot.limits)
