"""Personas in chats of people with bots: whom each is given, who sees which, and what is refused."""

import json

import pytest

from tests.conversations.transfers import unflagged
from tests.factories.bot_servers import bot, well_behaved
from tests.factories.frontends import (
    answered,
    conversations_of,
    exchange,
    open_chats,
    rate,
    ratings,
    start,
    webhook_bot,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_corpus

_ANN, _BEN = "i like to ski.\nmy wife left me.", "i have four children.\ni eat everything."


async def _corpus(suite: RunningSuite) -> str:
    dialogues = [
        {"key": "d1", "split": "openings", "turns": ["Hi.", "Hello."], "persona": [_ANN, _BEN]},
        {"key": "d2", "split": "openings", "turns": ["Yes.", "No."]},
        {"key": "d3", "split": "bare", "turns": ["Ah.", "Oh."]},
    ]
    return await add_corpus(suite, "personachat", dialogues)


class TestPersonas:
    @pytest.mark.parametrize(("begins", "of_person", "of_bot"), [("person", _ANN, _BEN), ("bot", _BEN, _ANN)])
    async def test_each_learns_its_own_alone(self, suite: RunningSuite, begins: str, of_person: str, of_bot: str):
        corpus_id = await _corpus(suite)
        async with bot(well_behaved) as (served, url):
            ours = await webhook_bot(suite, url, name="ours")
            served.asked.clear()  # the probe's questions
            more = {"bots_per_chat": 1, "opening": {"begins": begins}, "personas": {"corpus_id": corpus_id}}
            collection_id = await open_chats(suite, [ours], **more)
            chat = await answered(suite, await start(suite, collection_id))
            while chat["state"] == "chatting":
                chat = await exchange(suite, chat)
        assert {each["persona"] for each in served.asked} == {of_bot}
        assert [each["persona"] for each in chat["conversations"]] == [of_person]
        assert json.dumps(of_bot) not in json.dumps(chat)
        assert (await rate(suite, chat, ratings(1))).status_code == 200

        [held] = await conversations_of(suite, collection_id)
        assert held["personas"] == [_ANN, _BEN]
        [line] = (await unflagged(suite, collection_id)).splitlines()
        assert json.loads(line)["personas"] == [_ANN, _BEN]
        admin = await suite.client("conversations", "admin")
        plan = (await admin.get(f"/v1/collections/{collection_id}/plan")).json()
        assert plan["personas"] == {"corpus_id": corpus_id, "split": "openings"}
        removal = await admin.delete(f"/v1/corpora/{corpus_id}")
        assert removal.status_code == 409, "a corpus that chats draw from can't be removed"

    @pytest.mark.parametrize(
        ("personas", "words"),
        [
            ({"corpus_id": "CORPUS", "split": "bare"}, "No dialogue of the split 'bare' has personas"),
            ({"corpus_id": "CORPUS", "split": "train"}, "train"),
            ({"corpus_id": "0198c0de-0000-7000-8000-000000000000"}, "0198c0de-0000-7000-8000-000000000000"),
        ],
    )
    async def test_a_split_without_any_is_refused(self, suite: RunningSuite, personas: dict[str, str], words: str):
        corpus_id = await _corpus(suite)
        async with bot(well_behaved) as (_, url):
            ours = await webhook_bot(suite, url)
        admin = await suite.client("conversations", "admin")
        named = {key: corpus_id if value == "CORPUS" else value for key, value in personas.items()}
        body = {"mode": "human_bot", "name": "p", "domain": "everyday", "bots": [ours], "bots_per_chat": 1}
        answer = await admin.post("/v1/collections", json=body | {"personas": named})
        assert (answer.status_code, words in answer.text) == (422, True), answer.text
