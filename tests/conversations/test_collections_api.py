import json
from uuid import UUID

import psycopg
import pytest

from spotthebot.contracts.conversations import Participant, ParticipantKind
from spotthebot.conversations import store, use_cases
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.kit.client import PeerUnavailable
from spotthebot.kit.database import Database
from tests.factories.house import House
from tests.factories.studies import (
    DIALOGUES,
    add_bot,
    add_corpus,
    conversation,
    created,
    import_conversations,
    keyed,
    plan,
    until,
)

NOBODY = "00000000-0000-7000-8000-000000000000"


class TestCorpora:
    async def test_a_batch_sent_again_changes_nothing(self, house: House):
        corpus = await add_corpus(house)
        admin = await house.client("conversations", "admin")
        path = f"/v1/corpora/{corpus}/dialogues"
        again = await created(admin, path, {"dialogues": keyed(DIALOGUES)})
        assert again == {"stored": 0, "already_there": 16}
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"openings": 8, "train": 8}

    async def test_dialogues_come_in_the_order_of_upload_page_by_page(self, house: House):
        corpus = await add_corpus(house)
        admin = await house.client("conversations", "admin")
        keys: list[str] = []
        cursor = None
        while True:
            params = {"split": "train", "limit": 3} | ({"cursor": cursor} if cursor else {})
            page = (await admin.get(f"/v1/corpora/{corpus}/dialogues", params=params)).json()
            keys += [item["key"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert keys == [f"train-d{number}" for number in range(8)]


class TestAllPlayAll:
    async def test_conversations_are_held_to_their_end(self, house: House):
        corpus = await add_corpus(house)
        bots = [await add_bot(house, model) for model in ("eliza", "parrot", "dull")]
        admin = await house.client("conversations", "admin")
        wanted = plan(bots, opening={"corpus_id": corpus}, humans={"corpus_id": corpus, "conversations": 2})
        collection = await created(admin, "/v1/collections", wanted)
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["conversations"], done["complete"], done["failed"]) == (8, 8, 0)  # 3 pairs x 2, and 2 human
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        assert [len(each["turns"]) for each in held] == [4] * 8  # 2 exchanges
        assert all([turn["speaker"] for turn in each["turns"]] == ["A", "B", "A", "B"] for each in held)
        assert all([turn["speaker"] for turn in each["opening"]] == ["A", "B"] for each in held)
        assert sum(each["participants"][0]["name"] == "HU" for each in held) == 2
        assert {each["participants"][0]["name"] for each in held} == {"HU", "eliza", "parrot", "dull"}

    async def test_the_stream_gives_what_the_pages_give(self, house: House):
        collection = await import_conversations(house, [conversation(f"c{n}", "X", "Y") for n in range(5)])
        admin = await house.client("conversations", "analyst")
        path = f"/v1/collections/{collection}/conversations"
        pages = (await admin.get(path)).json()["items"]
        lines = (await admin.get(f"{path}/stream")).text.splitlines()
        assert [json.loads(line) for line in lines] == pages
        assert [each["external_id"] for each in pages] == [f"c{n}" for n in range(5)]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"bots": [NOBODY]}, "bots"),
            ({"exchanges": 0}, "exchanges"),
            ({"conversations_per_pair": 1_000_000}, "conversations_per_pair"),
            ({"opening": {"corpus_id": NOBODY}}, "no corpus"),
            ({"colour": "red"}, "colour"),
        ],
    )
    async def test_a_plan_that_cannot_be_is_refused(self, house: House, change: dict, said: str):
        bots = [await add_bot(house, model) for model in ("eliza", "dull")]
        admin = await house.client("conversations", "admin")
        answer = await admin.post("/v1/collections", json=plan(bots) | change)
        assert answer.status_code == 422
        assert said in answer.text
        assert (await admin.get("/v1/collections")).json()["items"] == []

    async def test_unknown_bots_and_a_bot_twice_are_refused(self, house: House):
        bot = await add_bot(house, "eliza")
        admin = await house.client("conversations", "admin")
        unknown = await admin.post("/v1/collections", json=plan([bot, NOBODY]))
        assert (unknown.status_code, NOBODY in unknown.json()["detail"]) == (422, True)
        twice = await admin.post("/v1/collections", json=plan([bot, bot]))
        assert (twice.status_code, "named twice" in twice.text) == (422, True)

    async def test_splits_that_are_empty_or_too_small_are_told(self, house: House):
        corpus = await add_corpus(house)
        bots = [await add_bot(house, model) for model in ("eliza", "dull")]
        admin = await house.client("conversations", "admin")
        empty = await admin.post("/v1/collections", json=plan(bots, opening={"corpus_id": corpus, "split": "none"}))
        assert (empty.status_code, "'none'" in empty.json()["detail"]) == (422, True)
        few = await admin.post("/v1/collections", json=plan(bots, humans={"corpus_id": corpus, "conversations": 9}))
        assert (few.status_code, "8 dialogues" in few.json()["detail"]) == (422, True)

    async def test_frontends_read_no_conversation(self, house: House):
        collection = await import_conversations(house, [conversation("c", "X", "Y")])
        frontend = await house.client("conversations", "annotation")
        for path in (f"/v1/collections/{collection}/conversations", "/v1/collections", "/v1/corpora"):
            assert (await frontend.get(path)).status_code == 403


class TestImport:
    async def test_a_batch_sent_again_changes_nothing(self, house: House):
        batch = [conversation("c1", "X", "Y"), conversation("c2", "HU", "HU")]
        collection = await import_conversations(house, batch)
        admin = await house.client("conversations", "admin")
        path = f"/v1/collections/{collection}"
        again = await created(admin, f"{path}/conversations", {"conversations": [*batch, conversation("c3", "X", "Y")]})
        assert again == {"stored": 1, "already_there": 2}
        assert (await admin.get(path)).json()["turns"] == 3 * 6

    async def test_speakers_must_alternate_and_people_are_called_hu(self, house: House):
        admin = await house.client("conversations", "admin")
        collection = await import_conversations(house, [conversation("c", "X", "Y")])
        path = f"/v1/collections/{collection}/conversations"
        odd = conversation("d", "X", "Y")
        odd["turns"][1]["speaker"] = "A"
        misnamed = conversation("e", "X", "Y")
        misnamed["participants"][0]["kind"] = "human"
        for wrong in (odd, misnamed):
            assert (await admin.post(path, json={"conversations": [wrong]})).status_code == 422

    async def test_a_collection_that_holds_its_own_takes_none(self, house: House):
        bots = [await add_bot(house, model) for model in ("eliza", "dull")]
        admin = await house.client("conversations", "admin")
        collection = await created(admin, "/v1/collections", plan(bots))
        answer = await admin.post(
            f"/v1/collections/{collection['id']}/conversations", json={"conversations": [conversation("c", "X", "Y")]}
        )
        assert answer.status_code == 409


class FlakyBots:
    """Stands in for a peer that fails in the middle: which no real one does on demand."""

    def __init__(self, fail_at: int) -> None:
        self.calls = 0
        self._fail_at = fail_at

    async def reply(self, _bot_id: UUID, conversations: list[Conversation]) -> list[Reply]:
        self.calls += 1
        if self.calls == self._fail_at:
            raise PeerUnavailable(peer="bots", reason="gone")
        return [Reply(f"turn {len(each.turns)}", None, 1.0) for each in conversations]


class TestHoldConversations:
    async def test_a_job_that_is_run_again_goes_on_at_the_last_turn(self, house: House):
        bots = [UUID(await add_bot(house, model)) for model in ("eliza", "dull")]
        collection = await import_conversations(house, [conversation("c", "X", "Y")])
        sides = [Participant(kind=ParticipantKind.BOT, name=str(each), bot_id=each) for each in bots]
        running = Conversation(
            id=UUID(int=5),
            collection_id=UUID(collection),
            external_id=None,
            state="running",
            failure=None,
            participants=(sides[0], sides[1]),
            opening=(),
            opening_shown=False,
            turns=(),
            turns_wanted=6,
            seed=0,
        )
        database = Database(house.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await store.add_conversations(session, [running])
        flaky = FlakyBots(fail_at=4)
        with pytest.raises(PeerUnavailable):
            await use_cases.hold_conversations(database, flaky, [running.id])
        await use_cases.hold_conversations(database, flaky, [running.id])
        await use_cases.hold_conversations(database, flaky, [running.id])  # once more: there is nothing left to do
        await database.close()
        assert flaky.calls == 6 + 1  # six turns, one failure
        with psycopg.connect(house.database.owner["conversations"]) as connection:
            rows = connection.execute(
                "SELECT position, text FROM conversations.turns WHERE conversation_id = %s ORDER BY 1", [running.id]
            ).fetchall()
        assert rows == [(number, f"turn {number}") for number in range(6)]
