"""Ways to read through a bot what its team may not read: private corpora, and people's conversations in campaigns."""

import json
from typing import Any
from uuid import UUID

import pytest

from spotthebot.bots.protocols import builtin
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.corpora import CorpusFormat
from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.factories.exported import exported
from tests.factories.frontends import advance, exchange, open_chats, start, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, import_conversations, plan, until

PEOPLE = [
    [f"{topic} number {turn}, as people talk about it {turn * turn}." for turn in range(8)]
    for topic in ("Rain", "Bread", "Trains", "Music")
]
NOWHERE = "00000000-0000-7000-8000-000000000000"
OTHERS = [[f"{topic} number {turn}, of no campaign." for turn in range(8)] for topic in ("Cats", "Books")]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """Corpora, and bots that learn from them."""
    return "bots", "conversations"


@pytest.fixture
def always_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning bots are checked at each reply instead of every ten seconds."""
    monkeypatch.setattr(builtin, "_CHECK_SECONDS", 0.0)


async def _corpus(suite: RunningSuite, dialogues: list[list[str]], name: str = "ours", **more: Any) -> str:
    admin = await suite.client("conversations", "admin")
    body = {"name": name, "domain": "everyday", "origin": "Written for a test.", "licence": "none"} | more
    corpus = (await created(admin, "/v1/corpora", body))["id"]
    rows = [{"key": f"d{n}", "split": "train", "turns": turns} for n, turns in enumerate(dialogues)]
    await created(admin, f"/v1/corpora/{corpus}/dialogues", {"dialogues": rows})
    return corpus


def _learner(corpus: str, name: str = "parrot-of-texts", model: str = "retrieval") -> dict[str, Any]:
    return {
        "name": name,
        "domains": ["everyday"],
        "protocol": {"kind": "builtin", "model": model, "corpus_id": corpus, "split": "train"},
    }


async def _asked(suite: RunningSuite, bot_id: str, turns: list[str], team: str | None = None) -> Any:
    client = await suite.client("bots", "team" if team else "admin", team=team)
    return await client.post(f"/v1/bots/{bot_id}/replies", json={"contexts": [{"turns": turns}]})


async def _learnable(suite: RunningSuite, corpus: str, team: str | None = None) -> list[list[str]]:
    service = await suite.conversations("service")
    return [list(each.turns) async for each in service.list_learnable_dialogues(UUID(corpus), split="train", team=team)]


class TestPrivateCorpora:
    @pytest.mark.parametrize("model", ["retrieval", "ngram", "stray"])
    async def test_no_bot_of_another_team_learns_from_one(self, suite: RunningSuite, model: str):
        operators, theirs = await _corpus(suite, PEOPLE), await _corpus(suite, PEOPLE, "theirs", owner="them")
        team = await suite.client("bots", "team", team="us")
        for corpus in (operators, theirs):
            refused = await team.post("/v1/bots", json=_learner(corpus, model=model))
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:spotthebot:problem:unknown-corpus")
            assert "Rain" not in refused.text
        nowhere = await team.post("/v1/bots", json=_learner(NOWHERE, model=model))
        assert nowhere.json()["detail"].replace(NOWHERE, theirs) == refused.json()["detail"]
        assert (await team.get("/v1/bots")).json()["items"] == []

    async def test_bots_of_its_owner_and_of_the_operator_learn_from_one(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE, owner="us")
        for team in ("us", None):
            client = await suite.client("bots", "team" if team else "admin", team=team)
            bot = await created(client, "/v1/bots", _learner(corpus))
            (reply,) = (await _asked(suite, bot["id"], PEOPLE[0][:1], team)).json()["replies"]
            assert reply["text"] == PEOPLE[0][1]

    async def test_no_key_of_a_team_or_a_service_reads_dialogues(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE, owner="us", visibility="shared")
        team = await suite.client("conversations", "team", team="us")
        for path in ("", "/dialogues", "/learnable-dialogues?split=train", "/learnable-dialogues/revision?split=train"):
            assert (await team.get(f"/v1/corpora/{corpus}{path}")).status_code == 403
        assert (await team.patch(f"/v1/corpora/{corpus}", json={"visibility": "shared"})).status_code == 403
        service = await suite.client("conversations", "service")
        assert (await service.get(f"/v1/corpora/{corpus}/dialogues")).status_code == 403
        assert (await service.get(f"/v1/collections/{NOWHERE}/export")).status_code == 403

    async def test_a_version_that_the_operator_adds_to_a_teams_bot_learns_as_the_team(self, suite: RunningSuite):
        shared = await _corpus(suite, OTHERS, "shared", visibility="shared")
        private = await _corpus(suite, PEOPLE)
        team = await suite.client("bots", "team", team="us")
        bot = await created(team, "/v1/bots", _learner(shared))
        admin = await suite.client("bots", "admin")
        version = {"protocol": _learner(private)["protocol"]}
        assert (await admin.post(f"/v1/bots/{bot['id']}/versions", json=version)).status_code == 422

    @pytest.mark.usefixtures("always_checked")
    async def test_one_that_became_private_silences_the_bots_that_learned_from_it(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE, visibility="shared")
        team = await suite.client("bots", "team", team="us")
        bot = await created(team, "/v1/bots", _learner(corpus))
        assert (await _asked(suite, bot["id"], PEOPLE[0][:1], "us")).json()["replies"][0]["text"] == PEOPLE[0][1]
        admin = await suite.client("conversations", "admin")
        changed = await admin.patch(f"/v1/corpora/{corpus}", json={"visibility": "private"})
        assert (changed.json()["visibility"], changed.json()["owner"]) == ("private", None)
        refused = await _asked(suite, bot["id"], PEOPLE[0][:1], "us")
        assert (refused.status_code, "Rain" in refused.text) == (422, False)
        given = await admin.patch(f"/v1/corpora/{corpus}", json={"owner": "us"})
        assert (given.json()["visibility"], given.json()["owner"]) == ("private", "us")
        assert (await _asked(suite, bot["id"], PEOPLE[0][:1], "us")).status_code == 200


class TestPeoplesConversations:
    @pytest.mark.usefixtures("always_checked")
    async def test_a_bot_that_learned_before_the_collection_says_nothing_of_them(self, suite: RunningSuite):
        """Of six dialogues four are drawn; the team's bot takes no part in the collection."""
        corpus = await _corpus(suite, PEOPLE + OTHERS, visibility="shared")
        team = await suite.client("bots", "team", team="us")
        bot = await created(team, "/v1/bots", _learner(corpus))
        assert (await _asked(suite, bot["id"], PEOPLE[0][:1], "us")).json()["replies"][0]["text"] == PEOPLE[0][1]
        admin = await suite.client("conversations", "admin")
        humans = {"corpus_id": corpus, "split": "train", "conversations": 4}
        collection = await created(admin, "/v1/collections", plan(await two_bots(suite), humans=humans))
        drawn = await _people_of(suite, collection["id"])
        assert len(drawn) == 4
        for turns in drawn:
            refused = await _asked(suite, bot["id"], turns[:1], "us")
            assert (refused.status_code, turns[1] in refused.text) == (409, False)
        assert {tuple(each[:4]) for each in await _learnable(suite, corpus)} == {
            tuple(each[:4]) for each in PEOPLE + OTHERS
        } - {tuple(each[:4]) for each in drawn}
        version = {"protocol": _learner(corpus)["protocol"]}
        assert (await team.post(f"/v1/bots/{bot['id']}/versions", json=version)).status_code == 201
        for turns in drawn:
            (reply,) = (await _asked(suite, bot["id"], turns[:1], "us")).json()["replies"]
            assert reply["text"] not in {text for each in drawn for text in each}

    async def test_are_recognised_in_another_corpus_cut_and_with_other_punctuation(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE)
        admin = await suite.client("conversations", "admin")
        humans = {"corpus_id": corpus, "split": "train", "conversations": 4}
        await created(admin, "/v1/collections", plan(await two_bots(suite), humans=humans))
        disguised = [PEOPLE[0][1:4], [turn.upper().replace(",", " !") for turn in PEOPLE[1]], ["Oh?", *PEOPLE[2][:3]]]
        assert await _learnable(suite, await _corpus(suite, disguised + OTHERS, "disguised")) == OTHERS

    async def test_one_pair_of_turns_in_common_is_chance(self, suite: RunningSuite):
        greeting = ["How are you?", "Fine, thanks."]
        people, other = greeting + PEOPLE[0][:2], greeting + OTHERS[0][:2]
        corpus = await _corpus(suite, [people])
        admin = await suite.client("conversations", "admin")
        humans = {"corpus_id": corpus, "split": "train", "conversations": 1}
        await created(admin, "/v1/collections", plan(await two_bots(suite), humans=humans))
        assert await _learnable(suite, await _corpus(suite, [people, other], "both")) == [other]

    async def test_imported_ones_are_held_out(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE + OTHERS)
        rows = [
            {
                "external_id": f"c{n}",
                "participants": [{"kind": "human", "name": "HU"}, side],
                "turns": [{"speaker": "AB"[place % 2], "text": text} for place, text in enumerate(turns)],
            }
            for n, (turns, side) in enumerate(
                ((PEOPLE[0], {"kind": "human", "name": "HU"}), (PEOPLE[1], {"kind": "bot", "name": "X"}))
            )
        ]
        await import_conversations(suite, rows)
        assert await _learnable(suite, corpus) == [*PEOPLE[2:], *OTHERS]
        admin = await suite.client("conversations", "admin")
        copy = await created(admin, "/v1/collections", {"mode": "import", "name": "copy", "domain": "everyday"})
        lines = _by_people(PEOPLE[2]).model_dump_json()
        assert (await admin.post(f"/v1/collections/{copy['id']}/uploads", content=lines)).json()["stored"] == 1
        assert await _learnable(suite, corpus) == [*PEOPLE[3:], *OTHERS]

    async def test_with_bots_are_held_out_when_their_chat_is_over_also_from_an_export(self, suite: RunningSuite):
        """A chat's export makes a corpus: what the person said to the bot is in it, and no bot learns it."""
        study = await open_chats(suite, await two_bots(suite), bots_per_chat=1, minimum_turns=4, maximum_turns=8)
        chat = await start(suite, study)
        for words in PEOPLE[0][:2]:
            await exchange(suite, chat, words)
        assert (await advance(suite, chat)).json()["state"] == "rating"
        analyst = await suite.client("conversations", "analyst")
        (line,) = (await analyst.get(f"/v1/collections/{study}/export")).content.strip().split(b"\n")
        corpus = await _corpus(suite, OTHERS)
        admin = await suite.conversations("admin")
        stored = await admin.upload_dialogues(UUID(corpus), line, CorpusFormat.JSONL, split="train")
        assert stored.stored == 1
        assert [each["text"] for each in json.loads(line)["turns"]][::2] == PEOPLE[0][:2]
        assert await _learnable(suite, corpus) == OTHERS

    @pytest.mark.usefixtures("always_checked")
    async def test_with_bots_silence_no_bot_that_learned_what_the_person_repeats(self, suite: RunningSuite):
        """A person says every other line of a dialogue, and the bot that learned it says those in between."""
        corpus = await _corpus(suite, PEOPLE)
        bots = await suite.client("bots", "admin")
        bot = (await created(bots, "/v1/bots", _learner(corpus)))["id"]
        study = await open_chats(suite, [bot], bots_per_chat=1, minimum_turns=8, maximum_turns=8)
        chat = await start(suite, study)
        for words in PEOPLE[0][::2]:
            found = await exchange(suite, chat, words)
        assert [turn["text"] for turn in found["conversations"][0]["turns"]] == PEOPLE[0]
        assert (await _asked(suite, bot, PEOPLE[0][:1])).json()["replies"][0]["text"] == PEOPLE[0][1]
        assert await _learnable(suite, corpus) == PEOPLE
        analyst = await suite.client("conversations", "analyst")
        content = (await analyst.get(f"/v1/collections/{study}/export")).content
        admin = await suite.client("conversations", "admin")
        copy = await created(admin, "/v1/collections", {"mode": "import", "name": "copy", "domain": "everyday"})
        assert (await admin.post(f"/v1/collections/{copy['id']}/uploads", content=content)).json()["stored"] == 1
        assert (await _asked(suite, bot, PEOPLE[0][:1])).status_code == 200
        assert await _learnable(suite, await _corpus(suite, [*OTHERS, PEOPLE[0]], "later")) == OTHERS

    async def test_a_collection_whose_own_bot_learned_from_their_split_is_refused(self, suite: RunningSuite):
        corpus = await _corpus(suite, PEOPLE)
        bots = await suite.client("bots", "admin")
        bot = await created(bots, "/v1/bots", _learner(corpus))
        admin = await suite.client("conversations", "admin")
        humans = {"corpus_id": corpus, "split": "train", "conversations": 1}
        request = plan([bot["id"], *await two_bots(suite)], humans=humans)
        refused = await admin.post("/v1/collections", json=request)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:spotthebot:problem:learned-from-people")
        assert await _learnable(suite, corpus) == PEOPLE


def _by_people(turns: list[str]) -> ExportedConversation:
    person = Participant(kind=ParticipantKind.HUMAN, name="HU")
    whole = exported(1, exchanges=len(turns) // 2)
    said = tuple(turn.model_copy(update={"text": text}) for turn, text in zip(whole.turns, turns, strict=True))
    return whole.model_copy(update={"bots": ("HU", "HU"), "participants": (person, person), "turns": said})


async def _people_of(suite: RunningSuite, collection: str) -> list[list[str]]:
    admin = await suite.client("conversations", "admin")
    await until(admin, f"/v1/collections/{collection}", "complete")
    held = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    return [
        [turn["text"] for turn in each["turns"]]
        for each in held
        if {side["kind"] for side in each["participants"]} == {"human"}
    ]
