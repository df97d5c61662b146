"""Personas that are drawn with the opening, and first words: who is given them, who sees them, where they are kept."""

import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from spotthebot.contracts.conversations.collections import AllPlayAllIn
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.plans.domain import HUMANS, Source, plan_conversations
from spotthebot.conversations.plans.errors import NoPersonas
from spotthebot.kit.ids import new_ids
from tests.conversations.transfers import export, open_import, unflagged, upload
from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, created, plan, until

_ANN, _BEN = "i like to ski.\nmy wife left me.", "i have four children.\ni eat everything."
_DIALOGUE = Source(tuple(f"turn {number}" for number in range(12)), (_ANN, _BEN))


def _planned(take: int, *, humans: int = 0, **opening: Any):
    ids = new_ids(3)
    bots = [
        Participant(kind=ParticipantKind.BOT, name=name, bot_id=each)
        for name, each in zip(("one", "two"), ids[:2], strict=True)
    ]
    request = AllPlayAllIn.model_validate(
        plan(
            [str(each) for each in ids[:2]],
            opening={"corpus_id": ids[2], "take": take, "personas": True} | opening,
            humans={"corpus_id": ids[2], "conversations": humans} if humans else None,
        )
    )
    bare = Source(_DIALOGUE.turns)
    return plan_conversations(request, bots, [], [bare, _DIALOGUE], [_DIALOGUE])


class TestPlanned:
    @pytest.mark.parametrize(
        ("take", "expected"),
        [
            (2, (_ANN, _BEN)),  # Ann and Ben said one utterance each: A goes on as Ann
            (1, (_BEN, _ANN)),  # Ann said the only one: A answers her as Ben
            (3, (_BEN, _ANN)),
        ],
    )
    def test_the_next_speaker_gets_the_persona_of_the_person_whose_place_it_takes(
        self, take: int, expected: tuple[str, str]
    ):
        assert {each.personas for each in _planned(take)} == {expected}

    @pytest.mark.parametrize(("shown", "expected"), [(True, (_BEN, _ANN)), (False, (_ANN, _BEN))])
    def test_people_keep_their_own(self, *, shown: bool, expected: tuple[str, str]):
        [people] = [each for each in _planned(1, humans=1, shown=shown) if each.participants == HUMANS]
        # A hidden opening of people is a whole exchange, so that Ann goes on; a shown one is the utterance of Ann.
        assert people.personas == expected

    def test_dialogues_without_personas_open_nothing(self):
        assert all(each.personas for each in _planned(2))
        assert all(each.personas is None for each in _planned(2, personas=False))
        corpus = new_ids(1)[0]
        with pytest.raises(NoPersonas, match="No dialogue of the split 'openings' has personas"):
            plan_conversations(
                AllPlayAllIn.model_validate(
                    plan([*map(str, new_ids(2))], opening={"corpus_id": corpus, "personas": True})
                ),
                [],
                [],
                [Source(_DIALOGUE.turns)],
                [],
            )


async def _corpus(suite: RunningSuite) -> str:
    dialogue = {"key": "d1", "split": "openings", "turns": list(_DIALOGUE.turns), "persona": [_ANN, _BEN]}
    return await add_corpus(suite, "personachat", [dialogue])


class TestCollected:
    async def test_each_bot_hears_its_own_with_every_turn_and_annotators_hear_none(self, suite: RunningSuite):
        corpus = await _corpus(suite)
        ours = await suite.client("bots", "team", team="us")
        admin = await suite.client("conversations", "admin")
        async with bot(well_behaved) as (asked, url):
            bot_id = (await created(ours, "/v1/bots", webhook(f"{url}/reply", public=True)))["id"]
            asked.asked.clear()  # the probe's questions
            other = await add_bot(suite, "dull")
            opening = {"corpus_id": corpus, "personas": True}
            request = plan([bot_id, other], opening=opening, conversations_per_pair=1)
            collection = await created(admin, "/v1/collections", request)
            await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert [each["persona"] for each in asked.asked] == [_ANN, _ANN]  # it is A, in both exchanges

        path = f"/v1/collections/{collection['id']}"
        [held] = (await admin.get(f"{path}/conversations")).json()["items"]
        assert held["personas"] == [_ANN, _BEN]
        team = await suite.client("conversations", "team", team="us")
        [seen] = (await team.get(f"/v1/conversations?bot_id={bot_id}")).json()["items"]
        assert seen["personas"] == [_ANN, ""]
        service = await suite.client("conversations", "service")  # the task API reads texts, and nothing else
        texts = await service.get(f"{path}/texts/stream")
        assert texts.status_code == 200
        assert held["turns"][0]["text"] in texts.text
        assert "four children" not in texts.text

        [line] = (await unflagged(suite, collection["id"])).splitlines()
        assert json.loads(line)["personas"] == [_ANN, _BEN]
        copy = await open_import(suite)
        in_parquet = pq.read_table(io.BytesIO(await export(suite, collection["id"], "parquet"))).to_pylist()
        assert [each["personas"] for each in in_parquet] == [[_ANN, _BEN]]
        assert b"four children" in await export(suite, collection["id"], "csv")
        assert (await upload(suite, copy, line + b"\n"))["stored"] == 1
        assert json.loads(await unflagged(suite, copy))["personas"] == [_ANN, _BEN]

    async def test_first_words_open_every_conversation(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        request = plan(bots, opening={"first_words": "Hi!", "shown": True})
        collection = await created(admin, "/v1/collections", request)
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        assert [each["opening"] for each in held] == [[{"speaker": "B", "text": "Hi!"}]] * 2
        assert [len(each["turns"]) for each in held] == [4, 4]

    @pytest.mark.parametrize(
        ("opening", "words"),
        [
            ({}, "conversations open with a corpus or with first_words: name one of them"),
            ({"corpus_id": "CORPUS", "first_words": "Hi!"}, "conversations open with a corpus or with first_words"),
            ({"first_words": "Hi!", "personas": True}, "first_words have no personas"),
            ({"first_words": "  "}, "first_words"),
            ({"corpus_id": "CORPUS", "personas": True, "take": 20}, "longer than the conversation"),
            ({"corpus_id": "CORPUS", "personas": True, "split": "train"}, "train"),
        ],
    )
    async def test_an_opening_that_can_not_be_is_refused_by_the_estimate_as_by_the_start(
        self, suite: RunningSuite, opening: dict[str, Any], words: str
    ):
        corpus = await _corpus(suite)
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        asked = {key: corpus if value == "CORPUS" else value for key, value in opening.items()}
        answers = [
            await admin.post(path, json=plan(bots, opening=asked))
            for path in ("/v1/collections", "/v1/collections/dry-run")
        ]
        assert [each.status_code for each in answers] == [422, 422], [each.text for each in answers]
        assert all(words in each.text for each in answers), [each.text for each in answers]
