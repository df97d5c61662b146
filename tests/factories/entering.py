"""People who come to the pages by entry links."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from spotthebot.contracts.annotation.assignments import AssignmentOut, ClaimIn
from spotthebot.contracts.annotation.entries import EntryLinkIn
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations, open_campaign

SMALL_TALK = (
    "Hi! Did you get the train in the end, or were you stuck at the office?",
    "I got it, just. I ran from the lift to the platform and the doors closed on my bag.",
    "Oh no! Is the bag all right?",
    "It has a scar now. I like bags. Do you like bags?",
    "I suppose I do. Mine is falling apart, though. I should buy a new one before the trip.",
    "I have a trip too. It is falling apart.",
)


def talk(key: str, *texts: str) -> dict[str, Any]:
    """Write a conversation of two bots with these turns, or with small talk."""
    turns = [{"speaker": "AB"[number % 2], "text": text} for number, text in enumerate(texts or SMALL_TALK)]
    participants = [{"kind": "bot", "name": name} for name in ("SECRET-GPT", "SECRET-DR")]
    return {"external_id": key, "participants": participants, "turns": turns}


async def campaign_of_talks(suite: RunningSuite, *talks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Open a campaign that shows each conversation whole; all in one package."""
    collection = await import_conversations(suite, list(talks))
    exchanges = min(len(each["turns"]) for each in talks) // 2
    return await open_campaign(suite, collection, **{"segments": [exchanges], "package_size": 20} | more)


async def entry_path(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str | None = "ann") -> str:
    """Return the path of an entry link for one person, or for those whom the campaign's panel names."""
    admin = await suite.annotation("admin")
    link = await admin.create_entry_link(campaign["id"], EntryLinkIn(annotator=annotator))
    return f"/annotate/{campaign['id']}?{link.query}"


@asynccontextmanager
async def entered(suite: RunningSuite, path: str) -> AsyncIterator[httpx.AsyncClient]:
    """Follow an entry link, and give a client that has the cookie of this person."""
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as client:
        client.headers["Accept"] = "text/html"
        entry = await client.get(path)
        assert entry.status_code == 303, entry.text
        yield client


async def held_package(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str = "ann") -> AssignmentOut:
    """Return the package that an annotator of the pages holds, as the service has it."""
    frontend = await suite.apps["web"].state.frontend.annotation()
    package: AssignmentOut = await frontend.claim_package(campaign["id"], ClaimIn(annotator=annotator))
    return package
