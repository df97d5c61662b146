"""Access to a chat: by a frontend's key, or by the person's token, which opens only this chat."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.conversations.chats.store import tokens as tokens_store
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import Allow, allow
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first, idempotent
from spotthebot.kit.web.database.resources import database_of

TOKEN_COOKIE = "spotthebot_chat"  # noqa: S105 - a name
_PERSON = "chat"
"""The role of a caller with a chat's token; no API key has it."""
_EXPIRES_AT = "chat_token_expires_at"


class AllowInChat(Allow):
    """A dependency that accepts keys of frontends and administrators, and the token of the chat in the path.

    A token is a bearer token. `EventSource` can't send headers, so with `in_url` the query or a cookie may hold the
    token. For requests that change something only the header counts, because browsers send cookies with requests of
    other sites.
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
        database, now = database_of(request.app).pool, core_of(request.app).clock()
        chat_id, expires_at = await tokens_store.check_token(database, token, request.path_params["chat_id"], now)
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
    """Return the time at which the token of this request expires; None for a request with an API key."""
    expires_at: datetime | None = request.scope["state"].get(_EXPIRES_AT)
    return expires_at


_frontends = allow(Role.ADMIN, Role.ANNOTATION)
_in_chat = AllowInChat()

FrontendsClaim = Annotated[Claim, Depends(asking_first(_frontends), scope="function")]
"""A frontend's claim of an `Idempotency-Key`: `bots` is asked first, then the transaction begins."""
Chatting = Annotated[Principal, Depends(_frontends)]
"""A frontend, for requests that can be repeated."""
Chatter = Annotated[Principal, Depends(idempotent(_in_chat))]
"""A frontend, or the person of the chat; honours `Idempotency-Key`."""
ChatReader = Annotated[Principal, Depends(_in_chat)]
"""A frontend, or the person of the chat, for requests that can be repeated."""
ChatListener = Annotated[Principal, Depends(AllowInChat(in_url=True))]
"""A frontend, or the person of the chat, whose token may be in the URL or in a cookie, for `EventSource`."""
