"""Mixing the conversations of collections for a campaign."""

import asyncio

from spotthebot.conversations import store
from spotthebot.conversations.domain.mixes import Mix, Selection, check_bots, select
from spotthebot.kit.database import ReadSession


async def mix_conversations(session: ReadSession, mix: Mix) -> Selection:
    """Select the conversations of a mix; raises NoSuchCollection, BotsDiffer, and what `select` raises."""
    for collection_id in mix.collections:
        await store.collections.get_collection(session, collection_id)
    check_bots(await store.mixes.list_bots(session, mix.collections))
    return await asyncio.to_thread(select, await store.mixes.list_mixed(session, mix.collections), mix)
