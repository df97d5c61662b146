"""Quality flags of imports, and in exports."""

import asyncio
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from spotthebot.conversations.imports import use_cases as imports_use_cases
from spotthebot.conversations.quality.store import checks as checks_store
from tests.conversations.transfers import collected, export, flagged, lines_of, open_import, upload
from tests.factories.exported import exported
from tests.factories.running_suite import QUALITY_CHECKS, RunningSuite


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": QUALITY_CHECKS}


class TestExport:
    async def test_holds_the_same_rows_and_fields_in_every_format(self, suite: RunningSuite):
        collection = await collected(suite)
        await flagged(suite, collection)
        lines = [json.loads(line) for line in (await export(suite, collection)).splitlines()]
        rows = pq.read_table(io.BytesIO(await export(suite, collection, "parquet"))).to_pylist()
        assert [row["id"] for row in rows] == [line["id"] for line in lines]
        assert [[turn["text"] for turn in row["turns"]] for row in rows] == [
            [turn["text"] for turn in line["turns"]] for line in lines
        ]
        cells = list(csv.DictReader(io.StringIO((await export(suite, collection, "csv")).decode(), newline="")))
        assert [json.loads(row["turns"]) for row in cells] == [line["turns"] for line in lines]
        assert list(cells[0]) == list(rows[0]) == list(lines[0])
        with zipfile.ZipFile(io.BytesIO(await export(suite, collection, "datasets"))) as packed:
            assert pq.read_table(io.BytesIO(packed.read("data/train-00000-of-00001.parquet"))).to_pylist() == rows
            card = packed.read("README.md").decode()
        assert "8 conversations" in card
        assert "- small: Written for a test. Licence: Apache-2.0." in card
        assert "| seed | 3 |" in card
        assert all(f"| {name} | bot | 1 |" in card for name in ("eliza", "parrot", "dull"))

    async def test_names_duplicates_by_the_ids_of_the_export(self, suite: RunningSuite):
        twins = [exported(1), exported(1, id="twin"), exported(2)]
        collection = await open_import(suite)
        await upload(suite, collection, lines_of(*twins))
        await flagged(suite, collection)
        admin = await suite.client("conversations", "admin")
        listed = (await admin.get(f"/v1/collections/{collection}/quality-flags")).json()["items"]
        assert [each["exported_id"] for each in listed] == ["c1", "twin", "c2"]
        assert [each["exact_duplicate_of_exported"] for each in listed] == [None, "c1", None]
        assert listed[1]["exact_duplicate_of"] == listed[0]["conversation_id"]
        rows = [json.loads(line) for line in (await export(suite, collection)).splitlines()]
        flags = [row["quality_flags"] for row in rows]
        assert [row["id"] for row in rows] == [each["exported_id"] for each in listed]
        assert [each["exact_duplicate_of"] for each in flags] == [None, "c1", None]
        words = sum(len(turn.text.split()) for turn in twins[1].turns)
        assert flags[1]["words"] == pytest.approx(
            words, abs=len(twins[1].turns)
        )  # what counts as a word, at the margin
        table = pq.read_table(io.BytesIO(await export(suite, collection, "parquet"))).to_pylist()
        assert [row["quality_flags"] for row in table] == flags


class TestImport:
    @pytest.mark.parametrize("is_sent_again", [True, False])
    async def test_gets_its_flags_where_it_was_cut_after_its_last_batch(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, *, is_sent_again: bool
    ):
        """Where the same file is sent again nothing is left to store; where it is not, nobody asks for anything."""
        monkeypatch.setattr(imports_use_cases, "_AT_ONCE", 2)
        if not is_sent_again:
            monkeypatch.setattr(checks_store, "_REQUESTS_SETTLE", timedelta(0))  # a minute outside
        collection, lines = (
            await open_import(suite, "made-up"),
            lines_of(*(exported(number, turns=()) for number in range(4))),
        )
        admin = await suite.client("conversations", "admin")
        stored = asyncio.Event()

        async def cut() -> AsyncIterator[bytes]:
            yield lines
            async with asyncio.timeout(20):
                while (await admin.get(f"/v1/collections/{collection}")).json()["complete"] < 4:
                    await asyncio.sleep(0.02)
            stored.set()
            raise httpx.WriteError("cut")

        with pytest.raises(httpx.WriteError):
            await admin.post(f"/v1/collections/{collection}/uploads", content=cut())
        assert stored.is_set()
        if is_sent_again:
            assert (await upload(suite, collection, lines))["stored"] == 0
        await flagged(suite, collection)
