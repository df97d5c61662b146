"""Dependencies of the endpoints of `fed`: the caller, the models, other services."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import CollectionOut
from spotthebot.contracts.fed import ScoreJobIn
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.model import Scorers
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import Database
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.fetched import Fetched, fetched
from spotthebot.kit.web.database.idempotency import idempotent
from spotthebot.kit.web.database.sessions import get_database

_admins = allow(Role.ADMIN)
"""Scorers load models from the disk of the service, or from a hub: the operator's affair."""

Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Admin = Annotated[Principal, Depends(_admins)]
Creator = Annotated[Principal, Depends(idempotent(_admins))]
"""Who may start a job; honours `Idempotency-Key`."""
Pool = Annotated[Database, Depends(get_database)]


async def _scorers(request: Request) -> Scorers:
    scorers: Scorers = request.app.state.scorers
    return scorers


async def _collections(request: Request) -> Collections:
    collections: Collections = request.app.state.collections
    return collections


async def _campaigns(request: Request) -> Campaigns:
    campaigns: Campaigns = request.app.state.campaigns
    return campaigns


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


ScorersOfService = Annotated[Scorers, Depends(_scorers)]
CollectionsClient = Annotated[Collections, Depends(_collections)]
CampaignsClient = Annotated[Campaigns, Depends(_campaigns)]
JobQueue = Annotated[Jobs, Depends(_jobs)]


async def _ended_collection(
    _caller: Admin, collections: CollectionsClient, request: ScoreJobIn
) -> Fetched[CollectionOut]:
    return await fetched(collections.require_ended(request.collection_id))


EndedCollection = Annotated[Fetched[CollectionOut], Depends(_ended_collection)]
"""That the collection has ended, asked before the transaction begins (`kit/web/database/fetched.py`)."""
