"""What endpoints need from `conversations`, fetched before their transaction begins (`kit/web/database/fetched.py`)."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Depends

from spotthebot.annotation.api.deps import ConversationsClient, Creating
from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.use_cases.changes import PreparedChange, prepare_change
from spotthebot.annotation.use_cases.collections import check_collections
from spotthebot.annotation.use_cases.imports import fetch_missing_conversations
from spotthebot.contracts.annotation import CampaignIn
from spotthebot.contracts.annotation_uploads import PackageBatchIn
from spotthebot.contracts.campaign_changes import CampaignChangesIn
from spotthebot.kit.database import Database
from spotthebot.kit.web.database.fetched import Fetched, fetched
from spotthebot.kit.web.database.sessions import get_database


async def _checked_collections(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    conversations: ConversationsClient,
    request: CampaignIn,
) -> Fetched[None]:
    return await fetched(check_collections(database, conversations, request))


async def _missing_conversations(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    conversations: ConversationsClient,
    campaign_id: UUID,
    batch: PackageBatchIn,
) -> Fetched[Sequence[ShownConversation]]:
    return await fetched(fetch_missing_conversations(database, conversations, campaign_id, batch.packages))


async def _prepared_change(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    conversations: ConversationsClient,
    campaign_id: UUID,
    changed: CampaignChangesIn,
) -> Fetched[PreparedChange]:
    return await fetched(prepare_change(database, conversations, campaign_id, changed.root))


ChangePrepared = Annotated[Fetched[PreparedChange], Depends(_prepared_change)]
CheckedCollections = Annotated[Fetched[None], Depends(_checked_collections)]
MissingConversations = Annotated[Fetched[Sequence[ShownConversation]], Depends(_missing_conversations)]
