"""Who may use a chat: a frontend's key, or the person's own token, which opens this chat and nothing else."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.conversations.chats.store import tokens as tokens_store
from spotthebot.conversations.chats.use_cases.watch import ChatWatch
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.web.bearer.authentication import Allow, allow
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent

TOKEN_COOKIE = "spotthebot_chat"  # noqa: S105 - a name
_PERSON = "chat"
"""The role of a caller with a chat's token; no API key has it."""
_EXPIRES_AT = "chat_token_expires_at"


class AllowInChat(Allow):
    """A dependency that lets in keys of frontends and of administrators, and the token of the chat that the path names.

    A token comes as a bearer token. `EventSource` can send no header: with `in_url` the token may also stand in the
    query or in a cookie. No request that changes something takes it from there: a browser sends cookies along with
    whatever another site makes it send.
    """

    def __init__(self, *, in_url: bool = False) -> None:
        super().__init__(Role.ADMIN, Role.ANNOTATION)
        self._in_url = in_url

    def admits(self, principal: Principal) -> bool:
        return principal.role == _PERSON or super().admits(principal)

    async def identify(self, request: Request) -> Principal:
        token = self._token_of(request)
        if token is None:
            return await super().identify(request)
        state = request.app.state
        database: Database = state.database
        chat = request.path_params["chat_id"]
        chat_id, expires_at = await tokens_store.check_token(database.lookups, token, chat, state.clock())
        request.scope["state"][_EXPIRES_AT] = expires_at
        return Principal(chat_id, _PERSON, None)

    def _token_of(self, request: Request) -> str | None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme:
            return key if scheme.lower() == "bearer" and tokens_store.is_chat_token(key) else None
        if not self._in_url:
            return None
        return request.query_params.get("token") or request.cookies.get(TOKEN_COOKIE)


def expiry_of(request: Request) -> datetime | None:
    """Return when the token of this request expires; None for a request with an API key."""
    expires_at: datetime | None = request.scope["state"].get(_EXPIRES_AT)
    return expires_at


_frontends = allow(Role.ADMIN, Role.ANNOTATION)
_in_chat = AllowInChat()

FrontendsClaim = Annotated[Claim, Depends(asking_first(_frontends), scope="function")]
"""The claim of a frontend for people who talk to bots: `bots` is asked first, then the transaction begins."""
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


async def _new_people(request: Request) -> NewPeople:
    new_people: NewPeople = request.app.state.new_people
    return new_people


NewcomerLimits = Annotated[NewPeople, Depends(_new_people)]
