"""Typed clients of the services, blocking and on an event loop, for services, commands, tests and users.

    from spotthebot.clients import Bots

    with Bots("http://127.0.0.1:8101", key) as bots:
        for bot in bots.list_bots():
            print(bot.name, bot.status)

`AsyncBots` has the same methods for `await` and `async for`. Each other service has two such clients as well. Python
imports each client or error when a program first uses its name, so that the program does not wait for the import of the
others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spotthebot.clients.analytics import Analytics, AsyncAnalytics
    from spotthebot.clients.annotation.client import Annotation, AsyncAnnotation
    from spotthebot.clients.bots import AsyncBots, Bots
    from spotthebot.clients.channel import Retries
    from spotthebot.clients.conversations.client import AsyncConversations, Conversations
    from spotthebot.clients.errors import (
        PEER_TROUBLE,
        Conflict,
        Forbidden,
        Invalid,
        NotFound,
        PeerFailed,
        PeerRefused,
        PeerUnavailable,
        Problem,
        ProblemField,
        RateLimited,
        Unauthenticated,
        UnexpectedAnswer,
    )
    from spotthebot.clients.fed import AsyncFed, Fed
    from spotthebot.clients.operations import AsyncPages, Page, Pages
    from spotthebot.clients.streams import ServerSentEvent

_MODULES = {
    "analytics": ("Analytics", "AsyncAnalytics"),
    "annotation.client": ("Annotation", "AsyncAnnotation"),
    "bots": ("AsyncBots", "Bots"),
    "channel": ("Retries",),
    "conversations.client": ("AsyncConversations", "Conversations"),
    "fed": ("AsyncFed", "Fed"),
    "errors": (
        "PEER_TROUBLE",
        "Conflict",
        "Forbidden",
        "Invalid",
        "NotFound",
        "PeerFailed",
        "PeerRefused",
        "PeerUnavailable",
        "Problem",
        "ProblemField",
        "RateLimited",
        "Unauthenticated",
        "UnexpectedAnswer",
    ),
    "operations": ("AsyncPages", "Page", "Pages"),
    "streams": ("ServerSentEvent",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


__all__ = [
    "PEER_TROUBLE",
    "Analytics",
    "Annotation",
    "AsyncAnalytics",
    "AsyncAnnotation",
    "AsyncBots",
    "AsyncConversations",
    "AsyncFed",
    "AsyncPages",
    "Bots",
    "Conflict",
    "Conversations",
    "Fed",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Page",
    "Pages",
    "PeerFailed",
    "PeerRefused",
    "PeerUnavailable",
    "Problem",
    "ProblemField",
    "RateLimited",
    "Retries",
    "ServerSentEvent",
    "Unauthenticated",
    "UnexpectedAnswer",
]
