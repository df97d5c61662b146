"""What endpoints need from `conversations`, fetched before their transaction begins (`kit/web/database/fetched.py`)."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Depends

from spotthebot.annotation.api.deps import ConversationsClient, Creating
from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.use_cases.imports import fetch_missing_conversations
from spotthebot.contracts.annotation import CampaignIn, PackageBatchIn
from spotthebot.kit.database import Database
from spotthebot.kit.web.database.fetched import Fetched, fetched
from spotthebot.kit.web.database.sessions import get_database


async def _complete_collection(
    _caller: Creating, conversations: ConversationsClient, request: CampaignIn
) -> Fetched[None]:
    return await fetched(conversations.require_complete(request.collection_id))


async def _missing_conversations(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    conversations: ConversationsClient,
    campaign_id: UUID,
    batch: PackageBatchIn,
) -> Fetched[Sequence[ShownConversation]]:
    return await fetched(fetch_missing_conversations(database, conversations, campaign_id, batch.packages))


CompleteCollection = Annotated[Fetched[None], Depends(_complete_collection)]
MissingConversations = Annotated[Fetched[Sequence[ShownConversation]], Depends(_missing_conversations)]
