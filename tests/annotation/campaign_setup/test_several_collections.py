"""Campaigns over several collections, and their share of human dialogues."""

from typing import Any

import httpx
import pytest

from spotthebot.annotation.campaign_setup.use_cases.collections import mix_of
from spotthebot.annotation.conversations.domain import PackedTurns, ShownConversation, mixed
from spotthebot.annotation.conversations.errors import ConversationsNamedAlike
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.contracts.services import API_NAMES
from spotthebot.contracts.turns import Turn
from spotthebot.kit.ids import new_id
from tests.factories.annotating import WHOLE
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations, plan, until

PATH = "/v1/campaigns"
BODY = {"name": "c", "domain": "everyday", "segments": [1, 2]}
BOTS = [conversation(f"b{number}", "X", "Y") for number in range(6)]
PEOPLE = [conversation(f"p{number}", "HU", "HU") for number in range(6)]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return API_NAMES


async def _collections(suite: RunningSuite) -> list[str]:
    """Return a collection of bots with two people's dialogues, and another one that has the same and four more."""
    return [
        await import_conversations(suite, [*BOTS[:4], *PEOPLE[:2]]),
        await import_conversations(suite, [*BOTS[4:], *PEOPLE]),
    ]


async def _shown(suite: RunningSuite, campaign: dict[str, Any]) -> set[str]:
    admin = await suite.client("annotation", "admin")
    export = await admin.get(f"{PATH}/{campaign['id']}/export", params={"rows": "packages", "format": "csv"})
    return {line.split(",")[4] for line in export.text.splitlines()[1:]}


async def _refusal(suite: RunningSuite, **body: Any) -> httpx.Response:
    answer = await (await suite.client("annotation", "admin")).post(PATH, json=BODY | body)
    assert answer.status_code == 422, answer.text
    return answer


class TestCampaign:
    async def test_shows_the_conversations_of_all_its_collections_once(self, suite: RunningSuite):
        collections = await _collections(suite)
        campaign = await open_campaign(suite, collections=collections)
        assert (campaign["collections"], campaign["collection_id"]) == (collections, collections[0])
        assert campaign["items"] == 24
        assert campaign["too_short"] == 0
        assert campaign["not_selected"] == 2
        assert await _shown(suite, campaign) == {each["external_id"] for each in (*BOTS, *PEOPLE)}

    async def test_shows_the_share_of_human_dialogues_that_it_asks_for(self, suite: RunningSuite):
        """Six conversations of bots, so two of people make a quarter; the owner's secret draws the same two again."""
        collections = await _collections(suite)
        drawn = [
            await _shown(
                suite,
                await open_campaign(suite, collections=collections, human_share=0.25, secret=secret * 32),
            )
            for secret in ("00", "00", "01", "02", "03")
        ]
        assert {len(each) for each in drawn} == {8}
        assert all({each["external_id"] for each in BOTS} < each for each in drawn)
        assert drawn[0] == drawn[1]
        assert len(set(map(frozenset, drawn))) > 1

    async def test_campaign_of_one_collection_can_ask_for_a_share_too(self, suite: RunningSuite):
        (collection, _) = await _collections(suite)
        campaign = await open_campaign(suite, collection, human_share=0.2)
        assert campaign["items"] == 10
        assert campaign["not_selected"] == 1
        assert campaign["human_share"] == 0.2

    async def test_collections_that_can_not_be_mixed_are_refused_with_the_reason(self, suite: RunningSuite):
        collections = await _collections(suite)
        answer = await _refusal(suite, collections=collections, human_share=0.6)
        assert answer.json()["detail"] == (
            "These collections can't be mixed in one campaign: "
            "A share of 0.6 needs 9 human dialogues of 2 exchanges; there are 6: lower it."
        )
        other = conversation("c", "X", "Y")
        other["participants"][0]["system"] = "another"
        collections.append(await import_conversations(suite, [other]))
        differ = await _refusal(suite, collections=collections)
        assert "'X' is imported in 'im (" in differ.json()["detail"]
        assert "imported as another in 'im (" in differ.json()["detail"]

    async def test_two_conversations_of_one_name_are_refused_and_an_import_fails_with_the_reason(
        self, suite: RunningSuite
    ):
        again = conversation("b0", "X", "Y")
        again["turns"][0]["text"] = "Something else."
        collections = [await import_conversations(suite, [each]) for each in (BOTS[0], again)]
        admin = await suite.client("annotation", "admin")
        refused = await admin.post(PATH, json=BODY | {"collections": collections})
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/collections")
        assert "Two conversations of these collections are called 'b0'" in refused.json()["detail"]
        campaign = await created(admin, PATH, BODY | {"collections": collections, "mode": "import"})
        failed = await until(admin, f"{PATH}/{campaign['id']}", "failed")
        assert failed["failure"].startswith("Two conversations of these collections are called 'b0'")

    async def test_import_takes_packages_over_all_its_collections(self, suite: RunningSuite):
        collections = await _collections(suite)
        admin = await suite.client("annotation", "admin")
        path = f"{PATH}/{(await created(admin, PATH, BODY | {'collections': collections, 'mode': 'import'}))['id']}"
        await until(admin, path, "open")
        segments = [{"conversation": each, "exchanges": 2} for each in ("b0", "p0", "p5")]
        await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
        late = conversation("late", "X", "Y")
        conversations = await suite.client("conversations", "admin")
        await created(conversations, f"/v1/collections/{collections[1]}/conversations", {"conversations": [late]})
        more = [{"conversation": "late", "exchanges": 1}]
        await created(admin, f"{path}/packages", {"packages": [{"external_id": "q", "segments": more}]})

    async def test_campaign_is_analysed_like_one_over_a_single_collection_with_its_conversations(
        self, suite: RunningSuite
    ):
        """The same annotations of the same conversations, which are in one collection here and in two there."""
        halves = [*BOTS[:4], *PEOPLE[:2]], [*BOTS[4:], *PEOPLE[2:]]
        parts = [await import_conversations(suite, half) for half in halves]
        whole = await import_conversations(suite, [*halves[0], *halves[1]])
        analytics = await suite.client("analytics", "analyst")
        results = []
        for collections in ([whole], parts):
            campaign = await _imported(suite, collections)
            answer = await analytics.get(f"{PATH}/{campaign}/analysis", params={"seed": 1, "resamples": 200})
            assert answer.status_code == 200, answer.text
            results.append(answer.json())
        for result in results:
            del result["campaign_id"]
        assert results[0]["counts"]["annotations"] == 24
        assert results[0] == results[1]

    @pytest.mark.parametrize(
        ("body", "pointer", "rule"),
        [
            ({}, "", "give either `collections`"),
            ({"collections": []}, "", "give either `collections`"),
            ({"collections": [str(new_id())], "collection_id": str(new_id())}, "", "give either `collections`"),
            ({"collections": ["00000000-0000-7000-8000-000000000000"] * 2}, "", "twice"),
            ({"collections": ["00000000-0000-7000-8000-000000000000"]}, None, "no collection 00000000"),
            ({"collections": [str(new_id()) for _ in range(101)]}, "/collections", "100"),
            ({"collections": ["im"]}, "/collections/0", "UUID"),
            ({"collection_id": str(new_id()), "human_share": 1}, "/human_share", "less than 1"),
            ({"collection_id": str(new_id()), "human_share": -0.1}, "/human_share", "at least 0"),
        ],
    )
    async def test_collections_or_a_share_that_can_not_be_are_refused(
        self, suite: RunningSuite, body: dict[str, Any], pointer: str | None, rule: str
    ):
        problem = (await _refusal(suite, **body)).json()
        faults = [(fault["pointer"], fault["detail"]) for fault in problem.get("errors", ())]
        assert any(rule in detail for at, detail in [*faults, (None, problem["detail"])] if at == pointer), problem


async def _imported(suite: RunningSuite, collections: list[str]) -> str:
    """Return an import campaign with one package of all conversations, annotated by two."""
    admin = await suite.client("annotation", "admin")
    body = BODY | {"collections": collections, "mode": "import", "annotators_published": True}
    campaign = await created(admin, PATH, body)
    path = f"{PATH}/{campaign['id']}"
    await until(admin, path, "open")
    names = [each["external_id"] for each in (*BOTS, *PEOPLE)]
    segments = [{"conversation": name, "exchanges": 2} for name in names]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": segments}]})
    annotations = [
        {
            "external_id": f"{annotator} {name}",
            "package": "p",
            "conversation": name,
            "exchanges": 2,
            "annotator": annotator,
            "answer": WHOLE | {"entity": {"A": "human" if (number + turn) % 3 else "bot", "B": "unsure"}},
            "started_at": None,
            "ended_at": None,
            "elapsed_ms": None,
        }
        for turn, annotator in enumerate(("ann", "ben"))
        for number, name in enumerate(names)
    ]
    await created(admin, f"{path}/annotations", {"annotations": annotations})
    return str(campaign["id"])


def _conversation(name: str | None, text: str = "Hello.") -> ShownConversation:
    turns = (Turn(speaker="A", text=text), Turn(speaker="B", text=text))
    return ShownConversation(new_id(), name, PackedTurns.of(()), PackedTurns.of(turns))


class TestMixed:
    def test_conversations_of_one_name_and_text_come_once_where_the_first_is(self):
        first, other, copy = _conversation("c"), _conversation(None), _conversation("c")
        assert mixed([[first, other], [copy]]) == [first, other]

    def test_conversations_of_one_name_need_one_text(self):
        with pytest.raises(ConversationsNamedAlike, match="are called 'c'"):
            mixed([[_conversation("c")], [_conversation("c", "Goodbye.")]])

    def test_an_imported_copy_is_known_by_the_id_of_its_original(self):
        original = _conversation(None)
        assert mixed([[original], [_conversation(str(original.conversation_id))]]) == [original]


class TestMixOf:
    @pytest.mark.parametrize(("lengths", "exchanges"), [((2, 5, 3), 5), ((), 1)])
    def test_takes_conversations_as_long_as_the_longest_segment_or_all_that_say_something(
        self, lengths: tuple[int, ...], exchanges: int
    ):
        assert mix_of((new_id(),), Unit(lengths=lengths), None).exchanges == exchanges


class TestOpenings:
    async def test_openings_that_one_collection_alone_shows_are_refused(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, model) for model in ("dull", "parrot")]
        conversations = await suite.client("conversations", "admin")
        collections = []
        for opening in ({"corpus_id": corpus, "shown": True}, None):
            collection = await created(conversations, "/v1/collections", plan(bots, opening=opening))
            await until(conversations, f"/v1/collections/{collection['id']}", "complete")
            collections.append(collection["id"])
        answer = await _refusal(suite, collections=collections)
        assert "The collections show openings of 2 and of 0 turns, which" in answer.json()["detail"]
