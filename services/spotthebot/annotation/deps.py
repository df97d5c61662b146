"""Dependencies of the endpoints of `annotation`: the caller, by role."""

from operator import attrgetter
from typing import Annotated

from fastapi import Depends, Query

from spotthebot.contracts.access import Role
from spotthebot.contracts.annotation.judges import MAX_JUDGES, JudgeAsked
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events.subscribers import Subscribers
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)
_frontends = allow(Role.ANNOTATION)

Admin = Annotated[Principal, Depends(idempotent(_admins))]
"""May create campaigns and upload to them; honours `Idempotency-Key`."""
AdminsClaim = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""An administrator's claim of an `Idempotency-Key`: `conversations` is asked first, then the transaction begins."""
Claimer = Annotated[Principal, Depends(idempotent(_frontends))]
"""A frontend that claims for an annotator; honours `Idempotency-Key`."""
Frontend = Annotated[Principal, Depends(_frontends)]
LinkMaker = Annotated[Principal, Depends(idempotent(allow(Role.ADMIN, Role.ANNOTATION)))]
"""May make entry links: an administrator for all frontends, a frontend for itself; honours `Idempotency-Key`."""
LinkRevoker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANNOTATION))]
"""May revoke entry links, which can be repeated: an administrator all links, a frontend its own."""
AdminReader = Annotated[Principal, Depends(_admins)]
CampaignReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.ANNOTATION, Role.SERVICE))]
Reporter = Annotated[Principal, Depends(allow(Role.SERVICE))]
"""Another service of the suite."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
"""May read labels and their conversations; frontends may not."""
AskedJudges = Annotated[
    tuple[JudgeAsked, ...],
    Query(max_length=MAX_JUDGES, description="Judges whose annotations are included, by name; `*`: all of them."),
]


FRONTENDS = Subscribers(Role.ANNOTATION, attrgetter("owner"))
"""Frontends, which subscribe to the events of their own assignments."""
