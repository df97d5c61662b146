"""Exports of collections, and imports of what they hold, over HTTP."""

import asyncio
from typing import Any

from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, created, plan, until


async def collected(suite: RunningSuite) -> str:
    """Hold a small collection: three bots, an opening, people."""
    corpus = await add_corpus(suite)
    bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
    admin = await suite.client("conversations", "admin")
    request = plan(
        bots,
        opening={"corpus_id": corpus, "take": "first_utterance", "shown": True},
        humans={"corpus_id": corpus, "conversations": 2},
    )
    collection = await created(admin, "/v1/collections", request)
    await until(admin, f"/v1/collections/{collection['id']}", "complete")
    return collection["id"]


async def export(suite: RunningSuite, collection: str, form: str = "ndjson") -> bytes:
    analyst = await suite.client("conversations", "analyst")
    answer = await analyst.get(f"/v1/collections/{collection}/export", params={"format": form})
    assert answer.status_code == 200, answer.text
    return answer.content


async def unflagged(suite: RunningSuite, collection: str) -> bytes:
    """Export without quality flags, which are computed in the background."""
    lines = (ExportedConversation.model_validate_json(line) for line in (await export(suite, collection)).splitlines())
    return lines_of(*(line.model_copy(update={"quality_flags": None}) for line in lines))


async def flagged(suite: RunningSuite, collection: str) -> None:
    admin = await suite.client("conversations", "admin")
    async with asyncio.timeout(60):
        while (await admin.get(f"/v1/collections/{collection}/quality")).json()["check"]["state"] != "done":
            await asyncio.sleep(0.05)


async def open_import(suite: RunningSuite, name: str = "small") -> str:
    admin = await suite.client("conversations", "admin")
    return (await created(admin, "/v1/collections", {"mode": "import", "name": name, "domain": "everyday"}))["id"]


async def upload(suite: RunningSuite, collection: str, lines: bytes) -> dict[str, Any]:
    admin = await suite.client("conversations", "admin")
    answer = await admin.post(f"/v1/collections/{collection}/uploads", content=lines)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lines_of(*conversations: ExportedConversation) -> bytes:
    return b"".join(each.model_dump_json().encode() + b"\n" for each in conversations)
