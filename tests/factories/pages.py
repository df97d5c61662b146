"""People who come to the pages without a browser: by an entry link, by the link of a chat, or with a key."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx

from spotthebot.contracts.annotation.assignments import AssignmentOut, ClaimIn
from spotthebot.contracts.annotation.entries import EntryLinkIn
from spotthebot.web.chats.domain import ChatLink
from tests.factories.running_suite import RunningSuite


@asynccontextmanager
async def signed_in(suite: RunningSuite, role: str, *, team: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """Sign in with a new key, and give a client that has the session's cookie."""
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False, timeout=60) as client:
        client.headers["Accept"] = "text/html"
        answer = await client.post("/sign-in", data={"key": await suite.keys.make(role, team=team)})
        assert answer.status_code == 303, answer.text
        yield client


async def entry_path(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str | None = "ann") -> str:
    """Return the path of an entry link for one person, or for those whom the campaign's panel names."""
    admin = await suite.annotation("admin")
    link = await admin.create_entry_link(campaign["id"], EntryLinkIn(annotator=annotator))
    return f"/annotate/{campaign['id']}?{link.query}"


@asynccontextmanager
async def entered(suite: RunningSuite, path: str) -> AsyncIterator[httpx.AsyncClient]:
    """Follow an entry link, and give a client that has the cookie of this person."""
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False, timeout=60) as client:
        client.headers["Accept"] = "text/html"
        entry = await client.get(path)
        assert entry.status_code == 303, entry.text
        yield client


async def held_package(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str = "ann") -> AssignmentOut:
    """Return the package that an annotator of the pages holds, as the service has it."""
    frontend = await suite.apps["web"].state.resources.frontend.annotation()
    package: AssignmentOut = await frontend.claim_package(campaign["id"], ClaimIn(annotator=annotator))
    return package


def entry_of(suite: RunningSuite, collection_id: str, *, hours: float = 1, **more: Any) -> str:
    """Return the path of a link into a collection; `more` says whom it is for."""
    link = ChatLink(UUID(collection_id), datetime.now(UTC) + timedelta(hours=hours), **more)
    return f"/chat/{collection_id}/enter?entry={seal(suite, link.to_content())}"


def seal(suite: RunningSuite, content: dict[str, str]) -> str:
    """Seal anything as the pages do."""
    text: str = suite.apps["web"].state.resources.vault.seal(json.dumps(content)).decode()
    return text
