"""Dependencies of the endpoints of `annotation`: the caller, the queue, limits of newcomers."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events.subscribers import Subscribers
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)
_frontends = allow(Role.ANNOTATION)

Admin = Annotated[Principal, Depends(idempotent(_admins))]
"""Who may create campaigns and upload to them; honours `Idempotency-Key`."""
AdminsClaim = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""An administrator's claim of an `Idempotency-Key`: `conversations` is asked first, then the transaction begins."""
Claimer = Annotated[Principal, Depends(idempotent(_frontends))]
"""A frontend that claims for an annotator; honours `Idempotency-Key`."""
Frontend = Annotated[Principal, Depends(_frontends)]
LinkMaker = Annotated[Principal, Depends(idempotent(allow(Role.ADMIN, Role.ANNOTATION)))]
"""Who may make entry links: an administrator for all frontends, a frontend for itself; honours `Idempotency-Key`."""
LinkRevoker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANNOTATION))]
"""Who may revoke them, which can be repeated as it is: an administrator all, a frontend its own."""
AdminReader = Annotated[Principal, Depends(_admins)]
CampaignReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.ANNOTATION, Role.SERVICE))]
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
"""Who may read labels and which conversations they are about; frontends may not."""


def frontend_of(caller: Principal) -> str:
    """Return the frontend that a key belongs to: its team's, so that keys can be replaced, else the key's own."""
    return f"team {caller.team}" if caller.team else f"key {caller.key_id}"


FRONTENDS = Subscribers(Role.ANNOTATION, frontend_of)
"""Frontends, which subscribe to the events of their own assignments."""


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _new_people(request: Request) -> NewPeople:
    new_people: NewPeople = request.app.state.new_people
    return new_people


NewcomerLimits = Annotated[NewPeople, Depends(_new_people)]
JobQueue = Annotated[Jobs, Depends(_jobs)]
