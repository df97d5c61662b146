"""Dependencies of the endpoints of `conversations`: the caller, by role."""

from typing import Annotated

from fastapi import Depends

from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)

Admin = Annotated[Principal, Depends(idempotent(_admins))]
"""May create; honours `Idempotency-Key`."""
AdminReader = Annotated[Principal, Depends(_admins)]
AdminsClaim = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""An administrator's claim of an `Idempotency-Key`: `bots` is asked first, then the transaction begins."""
Uploader = Annotated[Principal, Depends(_admins)]
"""May upload a file. `Idempotency-Key` is not needed, and would read the whole file into memory."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
DialogueReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST))]
"""May read complete dialogues and exports.

A service reads for a team only the dialogues that its bots may learn from.
"""
AnnotationService = Annotated[Principal, Depends(allow(Role.SERVICE))]
"""`annotation`, which packs conversations, shows nobody their own chats, and never learns who speaks."""
Mixer = Annotated[Principal, Depends(allow(Role.ADMIN, Role.SERVICE))]
"""May ask how many conversations a campaign would take: the campaign's author, and `annotation`."""
LearningService = Annotated[Principal, Depends(allow(Role.ADMIN, Role.SERVICE))]
Taker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE, Role.TEAM))]
"""May read a bot's conversations; a team only of its own bots."""
