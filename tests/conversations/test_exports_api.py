import asyncio
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pyarrow.parquet as pq
import pytest

from spotthebot.contracts.conversations import ConversationState, Ending, ExportedConversation
from spotthebot.conversations.imports import use_cases as imports_use_cases
from spotthebot.conversations.quality.store import checks as checks_store
from tests.factories.exported import exported
from tests.factories.running_suite import QUALITY_CHECKS, RunningSuite
from tests.factories.studies import add_bot, add_corpus, created, plan, until

FORMATS = ("ndjson", "csv", "parquet", "datasets")


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": QUALITY_CHECKS}


async def _collected(suite: RunningSuite) -> str:
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


async def _export(suite: RunningSuite, collection: str, form: str = "ndjson") -> bytes:
    analyst = await suite.client("conversations", "analyst")
    answer = await analyst.get(f"/v1/collections/{collection}/export", params={"format": form})
    assert answer.status_code == 200, answer.text
    return answer.content


async def _unflagged(suite: RunningSuite, collection: str) -> bytes:
    """Export without quality flags, which are computed in the background."""
    lines = (ExportedConversation.model_validate_json(line) for line in (await _export(suite, collection)).splitlines())
    return _lines(*(line.model_copy(update={"quality_flags": None}) for line in lines))


async def _flagged(suite: RunningSuite, collection: str) -> None:
    admin = await suite.client("conversations", "admin")
    async with asyncio.timeout(30):
        while (await admin.get(f"/v1/collections/{collection}/quality")).json()["check"]["state"] != "done":
            await asyncio.sleep(0.05)


async def _opened(suite: RunningSuite, name: str = "small") -> str:
    admin = await suite.client("conversations", "admin")
    return (await created(admin, "/v1/collections", {"mode": "import", "name": name, "domain": "everyday"}))["id"]


async def _upload(suite: RunningSuite, collection: str, lines: bytes) -> dict[str, Any]:
    admin = await suite.client("conversations", "admin")
    answer = await admin.post(f"/v1/collections/{collection}/uploads", content=lines)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _lines(*conversations: ExportedConversation) -> bytes:
    return b"".join(each.model_dump_json().encode() + b"\n" for each in conversations)


class TestExport:
    async def test_holds_the_turns_and_participants_of_every_conversation(self, suite: RunningSuite):
        collection = await _collected(suite)
        lines = [json.loads(line) for line in (await _export(suite, collection)).splitlines()]
        admin = await suite.client("conversations", "admin")
        pages = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
        assert len(lines) == 8  # 3 pairs x 2, and 2 by people
        for line, page in zip(lines, pages, strict=True):
            assert line["id"] == page["id"]
            assert line["bots"] == [side["name"] for side in page["participants"]]
            assert line["participants"] == page["participants"]
            assert line["opening"] == page["opening"]
            assert [{"speaker": turn["speaker"], "text": turn["text"]} for turn in line["turns"]] == page["turns"]
            assert (line["mode"], line["collection"], line["ended_by"]) == ("all_play_all", "small", "exchanges")
        by_bots = [line for line in lines if line["bots"] != ["HU", "HU"]]
        assert all(turn["latency_ms"] >= 0 and turn["said_at"] for line in by_bots for turn in line["turns"])
        assert len({line["seed"] for line in by_bots}) == 6
        assert all(line["opening"][-1]["speaker"] == "B" and line["opening_shown"] for line in by_bots)

    async def test_holds_the_same_rows_and_fields_in_every_format(self, suite: RunningSuite):
        collection = await _collected(suite)
        await _flagged(suite, collection)
        lines = [json.loads(line) for line in (await _export(suite, collection)).splitlines()]
        rows = pq.read_table(io.BytesIO(await _export(suite, collection, "parquet"))).to_pylist()
        assert [row["id"] for row in rows] == [line["id"] for line in lines]
        assert [[turn["text"] for turn in row["turns"]] for row in rows] == [
            [turn["text"] for turn in line["turns"]] for line in lines
        ]
        cells = list(csv.DictReader(io.StringIO((await _export(suite, collection, "csv")).decode(), newline="")))
        assert [json.loads(row["turns"]) for row in cells] == [line["turns"] for line in lines]
        assert list(cells[0]) == list(rows[0]) == list(lines[0])
        with zipfile.ZipFile(io.BytesIO(await _export(suite, collection, "datasets"))) as packed:
            assert pq.read_table(io.BytesIO(packed.read("data/train-00000-of-00001.parquet"))).to_pylist() == rows
            card = packed.read("README.md").decode()
        assert "8 conversations" in card
        assert "- small: Written for a test. Licence: Apache-2.0." in card
        assert "| seed | 3 |" in card
        assert all(f"| {name} | bot | 1 |" in card for name in ("eliza", "parrot", "dull"))

    async def test_names_duplicates_by_the_ids_of_the_export(self, suite: RunningSuite):
        twin = exported(2).model_copy(update={"id": "twin"})
        collection = await _opened(suite)
        await _upload(suite, collection, _lines(exported(2), twin))
        await _flagged(suite, collection)
        lines = (await _export(suite, collection)).splitlines()
        flags = [json.loads(line)["quality_flags"] for line in lines]
        assert [each["exact_duplicate_of"] for each in flags] == [None, "c2"]
        words = sum(len(turn.text.split()) for turn in twin.turns)
        assert flags[1]["words"] == pytest.approx(words, abs=len(twin.turns))  # what counts as a word, at the margin
        rows = pq.read_table(io.BytesIO(await _export(suite, collection, "parquet"))).to_pylist()
        assert [row["quality_flags"] for row in rows] == flags

    async def test_in_an_unknown_format_or_of_no_collection_is_refused(self, suite: RunningSuite):
        analyst = await suite.client("conversations", "analyst")
        path = "/v1/collections/00000000-0000-7000-8000-000000000000/export"
        for form in FORMATS:
            assert (await analyst.get(path, params={"format": form})).status_code == 404
        collection = await _opened(suite)
        answer = await analyst.get(f"/v1/collections/{collection}/export", params={"format": "xml"})
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["parameter"] == "format"
        assert "'ndjson', 'csv', 'parquet' or 'datasets'" in fault["detail"]

    async def test_is_an_incomplete_body_where_it_fails_on_the_way(self, suite: RunningSuite):
        collection = await _opened(suite)
        await _upload(suite, collection, _lines(*(exported(number, exchanges=1) for number in range(510))))
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            # In the second batch: the first was sent.
            connection.execute("UPDATE conversations.conversations SET seed = -1 WHERE external_id = 'c505'")
        analyst = await suite.client("conversations", "analyst")
        for form in FORMATS:
            with pytest.raises(httpx.RemoteProtocolError):
                await analyst.get(f"/v1/collections/{collection}/export", params={"format": form})


class TestStreams:
    """What other services read: neither is an export, neither has the fields of the other."""

    async def test_texts_come_without_participants(self, suite: RunningSuite):
        collection = await _opened(suite)
        await _upload(suite, collection, _lines(exported(0)))
        service = await suite.client("conversations", "service")
        (line,) = (await service.get(f"/v1/collections/{collection}/texts/stream")).text.splitlines()
        assert json.loads(line).keys() == {"id", "external_id", "state", "opening", "opening_shown", "turns"}
        assert [turn["text"] for turn in json.loads(line)["turns"]] == [turn.text for turn in exported(0).turns]

    async def test_speakers_come_without_texts(self, suite: RunningSuite):
        collection = await _opened(suite)
        await _upload(suite, collection, _lines(exported(0)))
        service = await suite.client("conversations", "service")
        (line,) = (await service.get(f"/v1/collections/{collection}/speakers/stream")).text.splitlines()
        assert json.loads(line).keys() == {"id", "state", "participants"}


class TestImportOfAnExport:
    async def test_gives_the_same_collection_line_for_line(self, suite: RunningSuite):
        first = await _unflagged(suite, await _collected(suite))
        copy = await _opened(suite)
        account = await _upload(suite, copy, first)
        assert account == {"read": 8, "stored": 8, "already_there": 0, "rejected": {"count": 0, "first": []}}
        assert await _unflagged(suite, copy) == first
        admin = await suite.client("conversations", "admin")
        found = (await admin.get(f"/v1/collections/{copy}")).json()
        assert (found["conversations"], found["complete"], found["turns"], found["state"]) == (8, 8, 32, "complete")

    async def test_keeps_every_field_of_conversations_that_ended_in_any_way(self, suite: RunningSuite):
        rows = [exported(number) for number in range(520)]
        rows[3] = exported(3, state=ConversationState.FAILED, failure="unreachable: gone", ended_by=None)
        rows[4] = exported(4, state=ConversationState.CANCELLED, turns=(), opening=())
        rows[5] = exported(5, ended_by=Ending.FAREWELL, exchanges=1)
        collection = await _opened(suite, "made-up")
        account = await _upload(suite, collection, _lines(*rows))
        assert (account["stored"], account["rejected"]["count"]) == (520, 0)
        assert await _unflagged(suite, collection) == _lines(*rows)
        admin = await suite.client("conversations", "admin")
        found = (await admin.get(f"/v1/collections/{collection}")).json()
        assert (found["complete"], found["failed"], found["cancelled"]) == (518, 1, 1)

    async def test_continues_after_an_interruption_and_changes_nothing_when_sent_again(self, suite: RunningSuite):
        rows = [exported(number) for number in range(20)]
        collection = await _opened(suite, "made-up")
        assert (await _upload(suite, collection, _lines(*rows[:12])))["stored"] == 12
        account = await _upload(suite, collection, _lines(*rows))
        assert (account["stored"], account["already_there"], account["rejected"]["count"]) == (8, 12, 0)
        assert await _unflagged(suite, collection) == _lines(*rows)

        renamed = await _opened(suite, "renamed")
        for stored in (20, 0):
            account = await _upload(suite, renamed, _lines(*rows))
            assert (account["stored"], account["already_there"]) == (stored, 20 - stored)
        assert await _unflagged(suite, renamed) == _lines(
            *(row.model_copy(update={"collection": "renamed"}) for row in rows)
        )

    @pytest.mark.parametrize("is_sent_again", [True, False])
    async def test_gets_its_quality_flags_where_it_was_cut_after_its_last_batch(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, *, is_sent_again: bool
    ):
        """Where the same file is sent again nothing is left to store; where it is not, nobody asks for anything."""
        monkeypatch.setattr(imports_use_cases, "_AT_ONCE", 2)
        if not is_sent_again:
            monkeypatch.setattr(checks_store, "_REQUESTS_SETTLE", timedelta(0))  # a minute outside
        collection, lines = await _opened(suite, "made-up"), _lines(*(exported(number) for number in range(4)))
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
            assert (await _upload(suite, collection, lines))["stored"] == 0
        await _flagged(suite, collection)

    async def test_reports_lines_without_a_conversation_by_their_number(self, suite: RunningSuite):
        good = [exported(number) for number in range(3)]
        running = exported(7, state=ConversationState.RUNNING)
        content = json.loads(exported(8).model_dump_json())
        lines = [
            _lines(good[0]),
            b"{not json}\n",
            b"\n",
            _lines(exported(5, domain="weather")),
            _lines(running),
            _lines(exported(6, mode="bipartite")),
            json.dumps(content | {"turns": content["turns"][:1] * 2}).encode() + b"\n",
            json.dumps({key: value for key, value in content.items() if key != "seed"}).encode() + b"\n",
            b'{"id": "\xff"}\n',
            _lines(good[1]),
            _lines(exported(1, seed=99)),
            _lines(good[2]).rstrip(b"\n"),
        ]
        collection = await _opened(suite, "made-up")
        account = await _upload(suite, collection, b"".join(lines))
        assert (account["read"], account["stored"], account["already_there"]) == (11, 3, 0)
        reasons = {each["line"]: each["reason"] for each in account["rejected"]["first"]}
        assert account["rejected"]["count"] == len(reasons) == 8
        assert "JSON" in reasons[2]
        assert "domain 'weather'" in reasons[4]
        assert "has not ended" in reasons[5]
        assert "held as bipartite, the collection's as all_play_all" in reasons[6]
        assert "speakers must alternate" in reasons[7]
        assert "seed: is missing" in reasons[8]
        assert "not UTF-8" in reasons[9]
        assert "the id 'c1' stands for another conversation already" in reasons[11]
        assert await _unflagged(suite, collection) == _lines(*good)

    async def test_is_accepted_from_administrators_for_collections_of_mode_import_only(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        held = await created(admin, "/v1/collections", plan(bots))
        answer = await admin.post(f"/v1/collections/{held['id']}/uploads", content=_lines(exported(1)))
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:not-an-import")
        analyst = await suite.client("conversations", "analyst")
        assert (await analyst.post(f"/v1/collections/{await _opened(suite)}/uploads", content=b"")).status_code == 403
