"""Dependencies of the endpoints of `fed`: the caller, by role, and the resources of the service."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from spotthebot.contracts.access import Role
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.model import Scorers
from spotthebot.fed.settings import FedSettings
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)
"""Only the operator may use scorers, which load models from the disk of the service or from a hub."""

Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Admin = Annotated[Principal, Depends(_admins)]
Creator = Annotated[Principal, Depends(idempotent(_admins))]
"""A caller who may store dimensions; the endpoint honours `Idempotency-Key`."""
Start = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""The claim of an `Idempotency-Key` for a job: `conversations` is asked first, then the transaction begins."""


@dataclass(frozen=True)
class Resources:
    """Settings, the job queue, the subscriptions, the clients of other services, and the models."""

    settings: FedSettings
    jobs: Jobs
    subscriptions: Subscriptions
    collections: Collections
    campaigns: Campaigns
    scorers: Scorers


ServiceResources = Annotated[Resources, Depends(resources_of)]
"""The resources that the lifespan of the application opened."""
