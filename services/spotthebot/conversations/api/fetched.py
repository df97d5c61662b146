"""What endpoints need from `bots`, fetched before their transaction begins (`kit/web/database/fetched.py`)."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends

from spotthebot.contracts.conversations import ChatIn, CollectionIn, HumanBotIn, ImportIn, PartnerSetIn
from spotthebot.conversations.api.deps import BotsClient, Chatting, Creating
from spotthebot.conversations.use_cases.chats.start import find_replying_bots
from spotthebot.conversations.use_cases.collections.participants import Participants, find_bots, find_participants
from spotthebot.conversations.use_cases.corpora.remove import find_learners
from spotthebot.kit.database import Database
from spotthebot.kit.web.database.fetched import Fetched, fetched
from spotthebot.kit.web.database.sessions import get_database


async def _collection_participants(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    bots: BotsClient,
    request: CollectionIn,
) -> Fetched[Participants]:
    if isinstance(request, ImportIn):
        return Fetched(Participants(()))
    if isinstance(request, HumanBotIn):
        return await fetched(find_bots(bots, request.bots))
    return await fetched(find_participants(database, bots, request))


async def _partners(_caller: Creating, bots: BotsClient, request: PartnerSetIn) -> Fetched[Participants]:
    return await fetched(find_bots(bots, request.bots))


async def _learners(_caller: Creating, bots: BotsClient, corpus_id: UUID) -> Fetched[tuple[str, ...]]:
    return await fetched(find_learners(bots, corpus_id))


async def _replying_bots(
    _caller: Chatting,
    database: Annotated[Database, Depends(get_database)],
    bots: BotsClient,
    request: ChatIn,
) -> Fetched[frozenset[UUID] | None]:
    return await fetched(find_replying_bots(database, bots, request.collection_id, request.interactor))


CollectionParticipants = Annotated[Fetched[Participants], Depends(_collection_participants)]
Learners = Annotated[Fetched[tuple[str, ...]], Depends(_learners)]
Partners = Annotated[Fetched[Participants], Depends(_partners)]
ReplyingBots = Annotated[Fetched[frozenset[UUID] | None], Depends(_replying_bots)]
