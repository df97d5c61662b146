"""The example of simulated people who chat and rate, run as it stands against real services."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "simulated_chats.py"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


class TestExample:
    async def test_makes_a_collection_of_rated_chats_once(self, suite: RunningSuite):
        for name in ("retrieval", "ngram", "eliza", "dull"):
            await add_bot(suite, "eliza", name=name)
        assert (await _run(suite, 0)).endswith("2 of 2 simulated people have chatted and rated\n")
        assert await _run(suite, 1) == "The collection talks is complete already.\n"
        admin = await suite.client("conversations", "admin")
        (collection,) = (await admin.get("/v1/collections")).json()["items"]
        assert (collection["name"], collection["state"], collection["complete"]) == ("talks", "complete", 4)
        ratings = (await admin.get(f"/v1/collections/{collection['id']}/ratings")).json()["items"]
        assert {each["interactor"] for each in ratings} == {"simulated-1001", "simulated-1002"}
        scores = [each["scores"]["quality"] for chat in ratings for each in chat["conversations"]]
        assert len(scores) == 4
        assert all(1 <= score <= 5 for score in scores)
        for chat in ratings:
            first, second = chat["conversations"]
            better = max(chat["conversations"], key=lambda each: each["scores"]["quality"])
            tied = first["scores"]["quality"] == second["scores"]["quality"]
            assert chat["preferred"] == (None if tied else better["conversation_id"])

    def test_is_named_in_the_documentation(self):
        assert "docs/examples/simulated_chats.py" in (ROOT / "docs" / "abc-eval.md").read_text()


async def _run(suite: RunningSuite, code: int) -> str:
    urls = [suite.urls[name] for name in ("bots", "conversations", "annotation")]
    keys = [await suite.keys.make(role) for role in ("admin", "annotation")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLE, *urls, *keys, "2", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert process.returncode == code, output.decode()
    return output.decode()
