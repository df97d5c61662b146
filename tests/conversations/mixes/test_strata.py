import json
from typing import Any

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


class TestStrata:
    async def test_the_stream_of_strata_says_which_conversations_have_the_same_speakers_and_not_who_they_are(
        self, suite: RunningSuite
    ):
        sides = [("X", "Y"), ("HU", "HU"), ("Y", "X"), ("X", "HU"), ("X", "X"), ("HU", "HU")]
        collection = await import_conversations(suite, [conversation(f"c{n}", *each) for n, each in enumerate(sides)])
        service = await suite.client("conversations", "service")
        path = f"/v1/collections/{collection}/strata/stream"
        lines = [json.loads(line) for line in (await service.get(path)).text.splitlines()]
        pages = await _items(suite, f"/v1/collections/{collection}/conversations")
        assert [each["id"] for each in lines] == [each["id"] for each in pages]
        labels = [each["stratum"] for each in lines]
        assert [labels.index(each) for each in labels] == [0, 1, 0, 3, 4, 1]
        again = [json.loads(line)["stratum"] for line in (await service.get(path)).text.splitlines()]
        assert not {*again} & {*labels}  # labels of two answers can't be joined

    @pytest.mark.parametrize("role", ["annotation", "analyst", "admin", "team"])
    async def test_services_alone_read_strata(self, suite: RunningSuite, role: str):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        client = await suite.client("conversations", role, team="t" if role == "team" else None)
        assert (await client.get(f"/v1/collections/{collection}/strata/stream")).status_code == 403


async def _items(suite: RunningSuite, path: str) -> list[dict[str, Any]]:
    return (await (await suite.client("conversations", "analyst")).get(path)).json()["items"]
