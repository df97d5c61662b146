"""Dependencies of the endpoints of `fed`: the caller, the models, other services."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.model import Scorers
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)
"""Scorers load models from the disk of the service, or from a hub: the operator's affair."""

Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Admin = Annotated[Principal, Depends(_admins)]
Creator = Annotated[Principal, Depends(idempotent(_admins))]
"""Who may store dimensions; honours `Idempotency-Key`."""
Start = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""The claim of an `Idempotency-Key` for a job: `conversations` is asked first, then the transaction begins."""


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
