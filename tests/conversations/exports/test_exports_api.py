import json

import httpx
import psycopg
import pytest

from tests.conversations.transfers import collected, export, lines_of, open_import, upload
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite

FORMATS = ("ndjson", "csv", "parquet", "datasets")


class TestExport:
    async def test_holds_the_turns_and_participants_of_every_conversation(self, suite: RunningSuite):
        collection = await collected(suite)
        lines = [json.loads(line) for line in (await export(suite, collection)).splitlines()]
        admin = await suite.client("conversations", "admin")
        pages = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
        assert len(lines) == 8  # 3 pairs x 2, and 2 by people
        for line, page in zip(lines, pages, strict=True):
            assert line["id"] == page["id"]
            assert line["bots"] == [side["name"] for side in page["participants"]]
            assert line["participants"] == page["participants"]
            assert line["opening"] == page["opening"]
            assert [{"speaker": turn["speaker"], "text": turn["text"]} for turn in line["turns"]] == page["turns"]
            assert line["mode"] == "all_play_all"
            assert line["collection"] == "small"
            assert line["ended_by"] == "exchanges"
        by_bots = [line for line in lines if line["bots"] != ["HU", "HU"]]
        assert all(turn["latency_ms"] >= 0 and turn["said_at"] for line in by_bots for turn in line["turns"])
        assert len({line["seed"] for line in by_bots}) == 6
        assert all(line["opening"][-1]["speaker"] == "B" and line["opening_shown"] for line in by_bots)

    async def test_in_an_unknown_format_or_of_no_collection_is_refused(self, suite: RunningSuite):
        analyst = await suite.client("conversations", "analyst")
        path = "/v1/collections/00000000-0000-7000-8000-000000000000/export"
        for form in FORMATS:
            assert (await analyst.get(path, params={"format": form})).status_code == 404
        collection = await open_import(suite)
        answer = await analyst.get(f"/v1/collections/{collection}/export", params={"format": "xml"})
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["parameter"] == "format"
        assert "'ndjson', 'csv', 'parquet' or 'datasets'" in fault["detail"]

    async def test_is_an_incomplete_body_where_it_fails_on_the_way(self, suite: RunningSuite):
        collection = await open_import(suite)
        await upload(suite, collection, lines_of(*(exported(number, exchanges=1) for number in range(510))))
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            # In the second batch: the first was sent.
            connection.execute("UPDATE conversations.conversations SET seed = -1 WHERE external_id = 'c505'")
        analyst = await suite.client("conversations", "analyst")
        for form in FORMATS:
            with pytest.raises(httpx.RemoteProtocolError):
                await analyst.get(f"/v1/collections/{collection}/export", params={"format": form})
