"""What endpoints need from `bots`, fetched before their transaction begins.

FastAPI resolves the dependencies of an endpoint in the order of its parameters. So an endpoint names a fetched one
first: `bots` is asked before the claim of an `Idempotency-Key`, which is the first statement of the transaction. An
error of `bots` is raised only when the endpoint asks for the result: a request that is repeated with its key gets the
stored answer, whatever `bots` says meanwhile.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Depends

from spotthebot.contracts.conversations import ChatIn, CollectionIn, HumanBotIn, ImportIn, PartnerSetIn
from spotthebot.conversations.api.deps import BotsClient, Chatting, Creating
from spotthebot.conversations.use_cases.chats.start import find_replying_bots
from spotthebot.conversations.use_cases.collections.participants import Participants, find_bots, find_participants
from spotthebot.kit.database import Database
from spotthebot.kit.errors import Error
from spotthebot.kit.web.database.sessions import get_database

_T = TypeVar("_T")


@dataclass(frozen=True)
class Fetched(Generic[_T]):
    """A result, or the error in its place."""

    outcome: _T | Error

    def result(self) -> _T:
        """Return the result; raises the error."""
        if isinstance(self.outcome, Error):
            raise self.outcome
        return self.outcome


async def _fetched(call: Awaitable[_T]) -> Fetched[_T]:
    try:
        return Fetched(await call)
    except Error as error:
        return Fetched(error)


async def _collection_participants(
    _caller: Creating,
    database: Annotated[Database, Depends(get_database)],
    bots: BotsClient,
    request: CollectionIn,
) -> Fetched[Participants]:
    if isinstance(request, ImportIn):
        return Fetched(Participants(()))
    if isinstance(request, HumanBotIn):
        return await _fetched(find_bots(bots, request.bots))
    return await _fetched(find_participants(database, bots, request))


async def _partners(_caller: Creating, bots: BotsClient, request: PartnerSetIn) -> Fetched[Participants]:
    return await _fetched(find_bots(bots, request.bots))


async def _replying_bots(
    _caller: Chatting,
    database: Annotated[Database, Depends(get_database)],
    bots: BotsClient,
    request: ChatIn,
) -> Fetched[frozenset[UUID] | None]:
    return await _fetched(find_replying_bots(database, bots, request.collection_id, request.interactor))


CollectionParticipants = Annotated[Fetched[Participants], Depends(_collection_participants)]
Partners = Annotated[Fetched[Participants], Depends(_partners)]
ReplyingBots = Annotated[Fetched[frozenset[UUID] | None], Depends(_replying_bots)]
