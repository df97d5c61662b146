"""Texts with characters that end lines, join, or turn around go whole through every stream between services."""

import asyncio
import csv
import io
import json
from typing import Any
from uuid import UUID

import pyarrow.parquet as pq
import pytest

from spotthebot.contracts.annotation.assignments import AnswerIn, ClaimIn
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.conversations.collections import CollectionState, ImportIn
from spotthebot.contracts.conversations.corpora import CorpusFormat
from spotthebot.kit.exports.formats import ExportFormat
from tests.factories.annotating import DECISION, WHOLE
from tests.factories.bot_servers import bot, well_behaved
from tests.factories.frontends import all_events, answered, open_chats, say, start, webhook_bot
from tests.factories.lazy_imports import lazily
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, plan

openai = lazily("openai")

SPOKEN = (
    "a line\u2028separator",
    "a paragraph\u2029separator",
    "\ufeffa byte order mark\ufeff",
    "from the right: \u05e9\u05dc\u05d5\u05dd \u200f, \u0645\u0631\u062d\u0628\u0627",
    "four bytes: \U0001f916 \U0001d518",
    "combining: e\u0301\u0327 and \u1100\u1161\u11a8",
    "an event:\ndata: {}\n\nevent: done\nid: 99\ndata: [DONE]\n\n: ping",
    'half of JSON: "}\n{"turns": [',
)
"""What a bot may say. A carriage return is no part: it becomes a line feed when the reply arrives."""
WRITTEN = (*SPOKEN, "next line: \u0085", "vertical tab\x0b!", "form feed\x0c!", "a lone\rcarriage return", "\u202eback")
"""What people may say besides: in chats, in corpora, in imports."""
NAMES = ("two joiners: \u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645", "a pair: \U0001f469\u200d\U0001f4bb e\u0301")
ANNOTATORS = ("p\u2028one", "p\u0085two")


def _bot_says(question: dict[str, Any]) -> dict[str, str]:
    return {"text": SPOKEN[len(question["turns"]) % len(SPOKEN)]}


def _lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.split(b"\n") if line]


async def _read(pieces: Any) -> bytes:
    return b"".join([piece async for piece in pieces])


async def _collection(suite: RunningSuite, url: str) -> UUID:
    """Two bots talk through all of `SPOKEN`, and people through all of `WRITTEN`."""
    admin = await suite.conversations("admin")
    client = await suite.client("conversations", "admin")
    body = {"name": "people", "domain": "everyday", "origin": "Written for a test.", "licence": "Apache-2.0"}
    corpus = (await created(client, "/v1/corpora", body))["id"]
    turns = [*WRITTEN, "the end"]
    line = json.dumps({"turns": turns, "key": "k\u2028", "split": "train"}, ensure_ascii=False)
    stored = await admin.upload_dialogues(UUID(corpus), f"{line}\n".encode(), CorpusFormat.JSONL)
    assert (stored.read, stored.stored) == (1, 1)
    (dialogue,) = [each async for each in admin.list_dialogues(UUID(corpus))]
    assert list(dialogue.turns) == turns
    bots = [await webhook_bot(suite, url, name=name) for name in NAMES]
    request = plan(bots, exchanges=len(turns) // 2, humans={"corpus_id": corpus, "conversations": 1, "split": "train"})
    return UUID((await created(client, "/v1/collections", request))["id"])


class TestCollections:
    async def test_from_a_bots_reply_to_the_analysis_no_text_changes(self, suite: RunningSuite):
        conversations = await suite.conversations("admin")
        async with bot(_bot_says) as (_, url):
            collection = await _collection(suite, url)
            *_, last = [event async for event in conversations.watch_collection(collection)]
        assert (last.event, last.data.complete, last.data.failed) == ("finished", 3, 0)
        n_turns = len(WRITTEN) + 1
        said = [SPOKEN[position % len(SPOKEN)] for position in range(n_turns)]
        expected = dict.fromkeys((NAMES, NAMES[::-1]), said) | {("HU", "HU"): [*WRITTEN, "the end"]}

        exported = await _read(conversations.export_collection(collection))
        assert {tuple(each["bots"]): [turn["text"] for turn in each["turns"]] for each in _lines(exported)} == expected
        in_csv = (await _read(conversations.export_collection(collection, ExportFormat.CSV))).decode()
        rows = csv.DictReader(io.StringIO(in_csv, newline=""))
        assert {
            tuple(json.loads(row["bots"])): [turn["text"] for turn in json.loads(row["turns"])] for row in rows
        } == expected
        in_parquet = await _read(conversations.export_collection(collection, ExportFormat.PARQUET))
        table = pq.read_table(io.BytesIO(in_parquet)).to_pylist()
        assert {tuple(row["bots"]): [turn["text"] for turn in row["turns"]] for row in table} == expected

        imported = (await conversations.create_collection(ImportIn(mode="import", name="copy", domain="everyday"))).id
        account = await conversations.upload_export(imported, exported)
        assert (account.read, account.stored, account.rejected.count) == (3, 3, 0)
        texts = [[turn.text for turn in each.turns] async for each in conversations.stream_texts(imported)]
        assert sorted(texts) == sorted(expected.values())
        speakers = [each.participants async for each in conversations.stream_speakers(imported)]
        assert {(first.name, second.name) for first, second in speakers} == set(expected)
        assert (await conversations.get_collection(imported)).state is CollectionState.COMPLETE
        await self._annotate_and_analyse(suite, imported, texts)

    async def _annotate_and_analyse(self, suite: RunningSuite, collection: UUID, texts: list[list[str]]) -> None:
        annotation = await suite.annotation("admin")
        request = CampaignIn(name="c", domain="everyday", collection_id=collection, segments=(len(texts[0]) // 2,))
        campaign = await annotation.create_campaign(request)
        async with asyncio.timeout(30):
            while (state := (await annotation.get_campaign(campaign.id)).state) == "building":
                await asyncio.sleep(0.05)
        assert state == "open"
        frontend = await suite.annotation("annotation")
        for annotator in ANNOTATORS:
            assignment = await frontend.claim_package(campaign.id, ClaimIn(annotator=annotator))
            assert sorted([turn.text for turn in item.turns] for item in assignment.items) == sorted(texts)
            for item in assignment.items:
                decision = AnswerIn(answer=DECISION, show_step=2)
                await frontend.save_answer(assignment.id, item.position, decision)
                await frontend.save_answer(assignment.id, item.position, AnswerIn(answer=WHOLE))
            await frontend.submit_assignment(assignment.id)
        service = await suite.annotation("service")
        known = {each.annotator: each.pseudonym async for each in annotation.list_annotators(campaign.id)}
        assert {*known} == {*ANNOTATORS}
        stored = [each.annotator async for each in service.stream_annotations(campaign.id)]
        assert sorted(stored) == sorted([*known.values()] * len(texts))
        analytics = await suite.analytics("analyst")
        ranking = (await analytics.ranking(campaign.id)).ranking
        assert {each.bot for each in ranking.bots} == set(NAMES)
        quality = (await analytics.annotators(campaign.id)).annotators
        assert {each.annotator for each in quality.annotators} == {*known.values()}


class TestChats:
    async def test_what_a_person_and_a_bot_say_arrives_as_events_and_in_the_export(self, suite: RunningSuite):
        admin = await suite.conversations("admin")
        async with bot(_bot_says) as (_, url):
            ids = [await webhook_bot(suite, url, name=name) for name in NAMES]
            study = await open_chats(suite, ids, bots_per_chat=1, minimum_turns=2, maximum_turns=2 * len(WRITTEN))
            chat = await start(suite, study, ANNOTATORS[0])
            for words in WRITTEN:
                assert (await say(suite, chat, words)).status_code == 202
                await answered(suite, chat)
            events = await all_events(suite, chat)
        assert [kind for _, kind, _ in events][-1] == "done"
        heard = [data["text"] for _, kind, data in events if kind == "turn"]
        assert heard[::2] == [words.strip() for words in WRITTEN]
        assert heard[1::2] == [SPOKEN[(2 * n + 1) % len(SPOKEN)] for n in range(len(WRITTEN))]
        by_client = [event.data.get("text") async for event in admin.watch_chat(UUID(chat["id"]))]
        assert [text for text in by_client if text is not None] == heard
        (line,) = _lines(await _read(admin.export_collection(UUID(study))))
        assert [turn["text"] for turn in line["turns"]] == heard

    async def test_a_text_with_nul_is_refused_where_it_enters(self, suite: RunningSuite):
        async with bot(_bot_says) as (_, url):
            ids = [await webhook_bot(suite, url, name=name) for name in NAMES]
            chat = await start(suite, await open_chats(suite, ids))
        refused = await say(suite, chat, "a\u0000b")
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/text")


class TestReplies:
    async def test_a_reply_streams_to_clients_of_openai_as_it_was_said(self, suite: RunningSuite):
        key = await suite.keys.make("admin")
        async with bot(_bot_says) as (_, url):
            name = await webhook_bot(suite, url)
            async with openai.AsyncOpenAI(
                api_key=key, base_url=f"{suite.urls['bots']}/openai/v1", max_retries=0
            ) as client:
                for words in SPOKEN:
                    turns = ["Hello."] * (SPOKEN.index(words) or len(SPOKEN))
                    roles = ("user", "assistant") if len(turns) % 2 else ("assistant", "user")
                    messages: Any = [{"role": roles[number % 2], "content": text} for number, text in enumerate(turns)]
                    stream = await client.chat.completions.create(model=name, messages=messages, stream=True)
                    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
                    assert "".join(pieces) == words

    @pytest.mark.parametrize("character", ["\u0000", "\u000b", "\u000c", "\u0085", "\u202e"])
    async def test_a_bot_may_not_say_what_hides_or_turns_text_around(self, suite: RunningSuite, character: str):
        def _says(question: dict[str, Any]) -> dict[str, str]:
            is_ours = [turn["text"] for turn in question["turns"]] == ["Say it."]
            return {"text": f"a{character}b"} if is_ours else well_behaved(question)

        admin = await suite.client("bots", "admin")
        async with bot(_says) as (_, url):
            bot_id = await webhook_bot(suite, url)
            request = {"contexts": [{"turns": ["Say it."]}]}
            (reply,) = (await admin.post(f"/v1/bots/{bot_id}/replies", json=request)).json()["replies"]
        assert (reply["text"], reply["failure"]) == (None, "invalid")
        assert f"U+{ord(character):04X}" in reply["detail"]
