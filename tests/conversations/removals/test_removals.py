"""Corpora that are removed."""

import asyncio
import json
from typing import Any

import httpx
from sqlalchemy import text

from spotthebot.kit.database.sessions import Database
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, plan

TURNS = ["How was the exam?", "Long. I finished, though.", "Tea, then?", "Please."]


async def _corpus(suite: RunningSuite, name: str = "uploaded") -> tuple[httpx.AsyncClient, str]:
    admin = await suite.client("conversations", "admin")
    body = {"name": name, "domain": "everyday", "origin": "Written for a test.", "licence": "Apache-2.0"}
    return admin, (await created(admin, "/v1/corpora", body))["id"]


async def _upload(admin: httpx.AsyncClient, corpus: str, content: Any, **query: str) -> dict[str, Any]:
    answer = await admin.post(f"/v1/corpora/{corpus}/uploads", params=query, content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _lines(*objects: Any) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


class TestUploads:
    async def test_go_with_their_corpus_once_nothing_uses_it(self, suite: RunningSuite, outbox: Database):
        admin, corpus = await _corpus(suite, "used")
        lines = [{"key": f"k{number}", "turns": TURNS} for number in range(20)]
        await _upload(admin, corpus, _lines(*lines), format="jsonl", split="train")
        bots = [await add_bot(suite, "ngram", corpus_id=corpus), await add_bot(suite, "dull")]
        refused = await admin.delete(f"/v1/corpora/{corpus}")
        said = "The corpus 'used' can't be deleted while bots learn from it: retire 'ngram' first."
        assert (refused.status_code, refused.json()["detail"]) == (409, said)
        opening = {"corpus_id": corpus, "split": "train"}
        await created(admin, "/v1/collections", plan(bots, name="talks", opening=opening))
        refused = await admin.delete(f"/v1/corpora/{corpus}")
        said = "The corpus 'used' can't be deleted: collections use its texts or were compared with it: 'talks'."
        assert (refused.status_code, refused.json()["detail"]) == (409, said)
        admin, unused = await _corpus(suite, "unused")
        await _upload(admin, unused, _lines(*lines), format="jsonl", split="train")
        for role in ("analyst", "team", "annotation", "service"):
            client = await suite.client("conversations", role, team="red" if role == "team" else None)
            assert (await client.delete(f"/v1/corpora/{unused}")).status_code == 403
        assert (await admin.delete(f"/v1/corpora/{unused}")).status_code == 204
        assert (await admin.delete(f"/v1/corpora/{unused}")).status_code == 404
        assert (await admin.post(f"/v1/corpora/{unused}/uploads?format=jsonl", content=b"")).status_code == 404
        left = text("SELECT count(*) FROM conversations.dialogues WHERE corpus_id = :corpus")
        async with asyncio.timeout(60), outbox.read() as session:
            while await session.scalar(left, {"corpus": unused}):
                await asyncio.sleep(0.05)
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"train": 20}
