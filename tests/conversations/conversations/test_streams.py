"""What other services read of the conversations of a collection."""

import json
from typing import Any

from tests.conversations.transfers import lines_of, open_import, upload
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


class TestStreams:
    """What other services read: neither is an export, neither has the fields of the other."""

    async def test_texts_come_without_participants(self, suite: RunningSuite):
        collection = await open_import(suite)
        await upload(suite, collection, lines_of(exported(0)))
        service = await suite.client("conversations", "service")
        (line,) = (await service.get(f"/v1/collections/{collection}/texts/stream")).text.splitlines()
        assert json.loads(line).keys() == {"id", "external_id", "state", "opening", "opening_shown", "turns"}
        assert [turn["text"] for turn in json.loads(line)["turns"]] == [turn.text for turn in exported(0).turns]

    async def test_speakers_come_without_texts(self, suite: RunningSuite):
        collection = await open_import(suite)
        await upload(suite, collection, lines_of(exported(0)))
        service = await suite.client("conversations", "service")
        (line,) = (await service.get(f"/v1/collections/{collection}/speakers/stream")).text.splitlines()
        assert json.loads(line).keys() == {"id", "state", "participants"}

    async def test_latencies_come_without_texts_and_speakers(self, suite: RunningSuite):
        collection = await open_import(suite)
        held = exported(0)
        times = [None if at % 2 else 10.0 * at for at in range(len(held.turns))]
        turns = tuple(
            turn.model_copy(update={"latency_ms": time}) for turn, time in zip(held.turns, times, strict=True)
        )
        await upload(suite, collection, lines_of(held.model_copy(update={"turns": turns})))
        service = await suite.client("conversations", "service")
        (line,) = (await service.get(f"/v1/collections/{collection}/latencies/stream")).text.splitlines()
        assert json.loads(line).keys() == {"id", "latencies_ms"}
        assert json.loads(line)["latencies_ms"] == times


class TestTexts:
    async def test_the_stream_of_texts_gives_what_the_pages_give_without_participants(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{n}", "X", "Y") for n in range(5)])
        pages = await _items(suite, f"/v1/collections/{collection}/conversations")
        service = await suite.client("conversations", "service")
        lines = (await service.get(f"/v1/collections/{collection}/texts/stream")).text.splitlines()
        texts = [json.loads(line) for line in lines]
        assert texts == [{name: page[name] for name in text} for page, text in zip(pages, texts, strict=True)]
        assert [each["external_id"] for each in texts] == [f"c{n}" for n in range(5)]
        assert "participants" in pages[0]
        assert "participants" not in texts[0]


async def _items(suite: RunningSuite, path: str) -> list[dict[str, Any]]:
    return (await (await suite.client("conversations", "analyst")).get(path)).json()["items"]
