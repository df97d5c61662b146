"""Dependencies of the endpoints of `conversations`: the caller, the queue, the other services."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from spotthebot.contracts.access import Role
from spotthebot.conversations.api.chat_access import AllowInChat
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.errors import UploadCutShort
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.conversations.use_cases.chats.watch import ChatWatch
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.new_people import NewPeople
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


_frontends = allow(Role.ADMIN, Role.ANNOTATION)
_in_chat = AllowInChat()

FrontendsClaim = Annotated[Claim, Depends(asking_first(_frontends), scope="function")]
"""The same of a frontend for people who talk to bots."""
Chatting = Annotated[Principal, Depends(_frontends)]
"""A frontend, by requests that can be repeated as they are."""
Chatter = Annotated[Principal, Depends(idempotent(_in_chat))]
"""A frontend, or the person whose chat it is; honours `Idempotency-Key`."""
ChatReader = Annotated[Principal, Depends(_in_chat)]
"""The same, by requests that can be repeated as they are."""
ChatListener = Annotated[Principal, Depends(AllowInChat(in_url=True))]
"""The same, with a token in the URL or in a cookie as well: for `EventSource`."""


async def _watch(request: Request) -> ChatWatch:
    watch: ChatWatch = request.app.state.chat_watch
    return watch


Watch = Annotated[ChatWatch, Depends(_watch)]


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _bots(request: Request) -> Bots:
    bots: Bots = request.app.state.bots
    return bots


async def _settings(request: Request) -> ConversationsSettings:
    settings: ConversationsSettings = request.app.state.settings
    return settings


async def _new_people(request: Request) -> NewPeople:
    new_people: NewPeople = request.app.state.new_people
    return new_people


NewcomerLimits = Annotated[NewPeople, Depends(_new_people)]
JobQueue = Annotated[Jobs, Depends(_jobs)]
BotsClient = Annotated[Bots, Depends(_bots)]
Settings = Annotated[ConversationsSettings, Depends(_settings)]


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """Yield a file that is uploaded as it arrives; raises UploadCutShort where the client disconnects."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise UploadCutShort from None
