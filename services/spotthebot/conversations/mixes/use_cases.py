"""Mixing the conversations of collections for a campaign."""

import asyncio

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.mixes import store
from spotthebot.conversations.mixes.domain import Mix, Selection, check_bots, select
from spotthebot.kit.database.sessions import ReadSession


async def mix_conversations(session: ReadSession, mix: Mix) -> Selection:
    """Select the conversations of a mix; raises NoSuchCollection, BotsDiffer, and the errors of `select`."""
    for collection_id in mix.collections:
        await collections_store.get_collection(session, collection_id)
    check_bots(await store.list_bots(session, mix.collections))
    return await asyncio.to_thread(select, await store.list_mixed(session, mix.collections), mix)
