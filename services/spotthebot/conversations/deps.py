"""Dependencies of the endpoints of `conversations`: the caller, the queue, the settings."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

_admins = allow(Role.ADMIN)

Admin = Annotated[Principal, Depends(idempotent(_admins))]
"""Who may create; honours `Idempotency-Key`."""
AdminReader = Annotated[Principal, Depends(_admins)]
AdminsClaim = Annotated[Claim, Depends(asking_first(_admins), scope="function")]
"""An administrator's claim of an `Idempotency-Key`: `bots` is asked first, then the transaction begins."""
Uploader = Annotated[Principal, Depends(_admins)]
"""Who may send a file; `Idempotency-Key` would have all of it read into memory, and is not needed."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
DialogueReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST))]
"""Who may read dialogues and exports whole. A service reads for a team: only what that team's bots may learn."""
AnnotationService = Annotated[Principal, Depends(allow(Role.SERVICE))]
"""`annotation`, which packs conversations, shows nobody their own chats, and never learns who speaks."""
Mixer = Annotated[Principal, Depends(allow(Role.ADMIN, Role.SERVICE))]
"""Who may ask what a campaign over collections would hold: who declares it, and `annotation`."""
LearningService = Annotated[Principal, Depends(allow(Role.ADMIN, Role.SERVICE))]
Taker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE, Role.TEAM))]
"""Who may read the conversations that a bot takes part in: a team, of its own bots."""


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _settings(request: Request) -> ConversationsSettings:
    settings: ConversationsSettings = request.app.state.settings
    return settings


JobQueue = Annotated[Jobs, Depends(_jobs)]
Settings = Annotated[ConversationsSettings, Depends(_settings)]
