"""`/v1/studies` on real services: requests, roles, faults, repeats, races and deletions."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from spotthebot.clients import AsyncAnnotation, NotFound
from spotthebot.contracts.annotation.studies import StudyIn
from tests.factories.campaigns import create_campaign, import_campaign, open_campaign
from tests.factories.databases import Databases
from tests.factories.frontends import open_chats, two_bots
from tests.factories.gates import locks_awaited
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

PATH = "/v1/studies"
DIALOGUES = [conversation(f"c{number}", "X", "Y") for number in range(2)]
OTHERS = [conversation(f"d{number}", "X", "Y") for number in range(2)]
UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation"


def _problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


def _pointers(answer: httpx.Response) -> list[str]:
    return [each["pointer"] for each in answer.json()["errors"]]


async def _tasks(suite: RunningSuite, *names: str) -> list[str]:
    """Open a campaign of each name over one collection, and return their ids."""
    collection = await import_conversations(suite, DIALOGUES)
    return [(await open_campaign(suite, collection, name=name))["id"] for name in names]


async def _drafts(suite: RunningSuite, count: int) -> list[str]:
    collection = await import_conversations(suite, DIALOGUES)
    return [(await create_campaign(suite, "draft", collection, open=False))["id"] for _ in range(count)]


async def _showing(suite: RunningSuite, collection: str, dialogue: str) -> str:
    """Import a campaign over a collection that shows one of its dialogues, and return its id."""
    return (await import_campaign(suite, collection, {"p": [(dialogue, 1)]}, name=dialogue)).rpartition("/")[2]


class TestCreateStudy:
    async def test_answers_what_it_stored(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        ratings, pairs = await _tasks(suite, "ratings", "pairs")
        chats = await open_chats(suite, await two_bots(suite))
        body = {"name": " abc ", "campaigns": [pairs, ratings], "chats": [chats], "outcome": "quality", "seed": 11}
        study = await created(admin, PATH, body)
        assert {name: study[name] for name in body} == body | {"name": "abc"}
        assert (await admin.get(f"{PATH}/{study['id']}")).json() == study

    async def test_needs_a_name_and_campaigns_alone(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        study = await created(admin, PATH, {"name": "s", "campaigns": await _tasks(suite, "one")})
        assert (study["chats"], study["outcome"], study["seed"]) == ([], None, 0)

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"campaigns": []}, ""),  # nor chats
            ({"campaigns": [UNKNOWN, UNKNOWN]}, "/campaigns"),
            ({"campaigns": [str(uuid4()) for _ in range(51)]}, "/campaigns"),
            ({"campaigns": "x'; DROP TABLE studies; --"}, "/campaigns"),
            ({"chats": [UNKNOWN, UNKNOWN]}, "/chats"),
            ({"name": "invisible\u200b"}, "/name"),
            ({"outcome": ""}, "/outcome"),
            ({"outcome": "a\0b"}, "/outcome"),
            ({"seed": -1}, "/seed"),
            ({"seed": 2**31}, "/seed"),
            ({"annotators": []}, "/annotators"),
        ],
    )
    async def test_names_the_field_of_a_fault(self, suite: RunningSuite, change: dict[str, Any], pointer: str):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json={"name": "s", "campaigns": [UNKNOWN]} | change)
        assert (answer.status_code, _pointers(answer)) == (422, [pointer])

    async def test_refuses_a_name_that_another_study_has_or_nearly_has(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one")
        await created(admin, PATH, {"name": "small", "campaigns": tasks})
        for name, problem in (("small", "study-name-taken"), ("sma11", "study-name-looks-alike")):
            answer = await admin.post(PATH, json={"name": name, "campaigns": tasks})
            assert _problem(answer) == (409, problem)
        assert len((await admin.get(PATH)).json()["items"]) == 1

    async def test_answers_one_of_several_requests_with_one_name(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body = {"name": "s", "campaigns": await _tasks(suite, "one", "two")}
        answers = await asyncio.gather(*(admin.post(PATH, json=body) for _ in range(4)))
        assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]
        assert {_problem(each) for each in answers if each.status_code != 201} == {(409, "study-name-taken")}

    async def test_answers_an_equal_repeat_as_before_until_the_study_is_deleted(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body, headers = {"name": "s", "campaigns": await _tasks(suite, "one")}, {"Idempotency-Key": "k"}
        first, again = [await admin.post(PATH, json=body, headers=headers) for _ in range(2)]
        assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
        other = await admin.post(PATH, json=body | {"seed": 1}, headers=headers)
        assert _problem(other) == (422, "idempotency-key-reused")
        assert (await admin.delete(f"{PATH}/{first.json()['id']}")).status_code == 204
        second = await admin.post(PATH, json=body, headers=headers)
        assert (second.status_code, second.json()["id"] == first.json()["id"]) == (201, False)


class TestTasks:
    async def test_must_exist(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        (task,) = await _tasks(suite, "one")
        answer = await admin.post(PATH, json={"name": "s", "campaigns": [task, UNKNOWN, str(uuid4())]})
        assert _problem(answer) == (422, "unknown-campaign")
        assert UNKNOWN in answer.json()["detail"]
        assert _pointers(answer) == ["/campaigns/1", "/campaigns/2"]

    async def test_must_not_have_failed(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, DIALOGUES)
        failed = await create_campaign(suite, "failed", collection, name="too long", segments=[50])
        answer = await admin.post(PATH, json={"name": "s", "campaigns": [failed["id"]]})
        assert (_problem(answer), _pointers(answer)) == ((409, "task-failed"), ["/campaigns/0"])
        assert "'too long'" in answer.json()["detail"]

    async def test_must_show_a_dialogue_of_the_others(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one", "two")
        apart = (await open_campaign(suite, await import_conversations(suite, OTHERS), name="elsewhere"))["id"]
        answer = await admin.post(PATH, json={"name": "s", "campaigns": [tasks[0], apart, tasks[1]]})
        assert (_problem(answer), _pointers(answer)) == ((422, "task-apart"), ["/campaigns/1"])
        assert "'elsewhere' shows no dialogue" in answer.json()["detail"]
        alone = await created(admin, PATH, {"name": "s", "campaigns": [apart]})
        assert alone["campaigns"] == [apart]

    async def test_share_what_they_show_on_either_side_of_a_pair(self, suite: RunningSuite):
        """Both import campaigns have the whole collection, but each shows one dialogue; the pair shows both."""
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, [DIALOGUES[0], conversation("c1", "X", "Z")])
        left, right = [await _showing(suite, collection, dialogue) for dialogue in ("c0", "c1")]
        pair = (await open_campaign(suite, collection, protocol="comparative"))["id"]
        answer = await admin.post(PATH, json={"name": "s", "campaigns": [left, right]})
        assert (_problem(answer), _pointers(answer)) == ((422, "task-apart"), ["/campaigns/0", "/campaigns/1"])
        for number, campaigns in enumerate(([left, pair], [pair, right], [left, right, pair])):
            await created(admin, PATH, {"name": "abc"[number], "campaigns": campaigns})

    async def test_may_have_no_packages_so_far(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one")
        elsewhere = await import_conversations(suite, OTHERS)
        empty = (await create_campaign(suite, "draft", elsewhere, mode="uploaded", open=False))["id"]
        study = await created(admin, PATH, {"name": "s", "campaigns": [empty, *tasks]})
        assert study["campaigns"] == [empty, *tasks]


class TestChats:
    async def test_may_be_imported(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        owner = await suite.client("conversations", "admin")
        imported = {"mode": "import", "name": "talks", "domain": "everyday", "held_as": "human_bot"}
        chats = [(await created(owner, "/v1/collections", imported))["id"]]
        study = await created(admin, PATH, {"name": "s", "campaigns": await _tasks(suite, "one"), "chats": chats})
        assert study["chats"] == chats

    async def test_must_be_collections_of_chats(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body = {"name": "s", "campaigns": await _tasks(suite, "one")}
        chats = await open_chats(suite, await two_bots(suite))
        study = await created(admin, PATH, body)
        bots = await import_conversations(suite, OTHERS)
        for wrong, problem in ((UNKNOWN, "unknown-collection"), (bots, "collection-without-chats")):
            for answer in (
                await admin.post(PATH, json=body | {"name": "t", "chats": [chats, wrong]}),
                await admin.put(f"{PATH}/{study['id']}", json=body | {"chats": [chats, wrong]}),
            ):
                assert (_problem(answer), _pointers(answer)) == ((422, problem), ["/chats/1"])


class TestReplaceStudy:
    async def test_adds_a_task_and_keeps_the_time_of_creation(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one", "two", "three")
        study = await created(admin, PATH, {"name": "s", "campaigns": tasks[:2], "outcome": "quality", "seed": 3})
        body = {"name": "t", "campaigns": [tasks[2], *tasks[:2]]}
        replaced = [await admin.put(f"{PATH}/{study['id']}", json=body) for _ in range(2)]
        assert [each.status_code for each in replaced] == [200, 200]
        assert replaced[0].json() == study | body | {"outcome": None, "seed": 0}
        assert replaced[1].json() == replaced[0].json() == (await admin.get(f"{PATH}/{study['id']}")).json()

    async def test_makes_the_faults_of_a_new_study(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one")
        study, other = [await created(admin, PATH, {"name": name, "campaigns": tasks}) for name in ("small", "b")]
        path = f"{PATH}/{other['id']}"
        for body, problem in (
            ({"name": "b", "campaigns": [UNKNOWN]}, (422, "unknown-campaign")),
            ({"name": "small", "campaigns": tasks}, (409, "study-name-taken")),
            ({"name": "sma11", "campaigns": tasks}, (409, "study-name-looks-alike")),
        ):
            assert _problem(await admin.put(path, json=body)) == problem
        assert (await admin.get(path)).json() == other
        missing = await admin.put(f"{PATH}/{UNKNOWN}", json={"name": "c", "campaigns": tasks})
        assert _problem(missing) == (404, "no-such-study")
        assert study["name"] == "small"

    async def test_gives_a_name_to_one_of_two_studies_and_one_of_two_bodies_to_a_study(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one", "two")
        ids = [(await created(admin, PATH, {"name": name, "campaigns": tasks}))["id"] for name in ("a", "b")]
        body = {"name": "wanted", "campaigns": tasks}
        named = await asyncio.gather(*(admin.put(f"{PATH}/{each}", json=body) for each in ids))
        assert sorted(each.status_code for each in named) == [200, 409]
        bodies = [{"name": "z", "campaigns": order} for order in (tasks, tasks[::-1], tasks[:1])]
        answers = await asyncio.gather(*(admin.put(f"{PATH}/{ids[0]}", json=each) for each in bodies))
        assert [(each.status_code, each.json()["campaigns"]) for each in answers] == [
            (200, each["campaigns"]) for each in bodies
        ]
        assert (await admin.get(f"{PATH}/{ids[0]}")).json() in [each.json() for each in answers]

    async def test_under_another_name_frees_the_key_of_its_creation(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body, headers = {"name": "a", "campaigns": await _tasks(suite, "one")}, {"Idempotency-Key": "k"}
        first = (await admin.post(PATH, json=body, headers=headers)).json()
        assert (await admin.put(f"{PATH}/{first['id']}", json=body | {"seed": 4})).status_code == 200
        assert (await admin.post(PATH, json=body, headers=headers)).json() == first
        assert (await admin.put(f"{PATH}/{first['id']}", json=body | {"name": "b"})).status_code == 200
        second = await admin.post(PATH, json=body, headers=headers)
        assert (second.status_code, second.json()["id"] == first["id"]) == (201, False)


class TestDeletions:
    async def test_keep_the_campaigns_of_a_deleted_study(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        (task,) = await _tasks(suite, "one")
        study = await created(admin, PATH, {"name": "s", "campaigns": [task]})
        path = f"{PATH}/{study['id']}"
        assert [(await admin.delete(path)).status_code for _ in range(2)] == [204, 404]
        assert _problem(await admin.get(path)) == (404, "no-such-study")
        assert (await admin.get(f"/v1/campaigns/{task}")).status_code == 200

    async def test_take_a_campaign_from_its_studies_even_if_it_was_the_last(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        first, second, kept = await _drafts(suite, 3)
        both = await created(admin, PATH, {"name": "both", "campaigns": [kept, first, second]})
        single = await created(admin, PATH, {"name": "single", "campaigns": [first]})
        assert (await admin.delete(f"/v1/campaigns/{first}")).status_code == 204
        assert (await admin.get(f"{PATH}/{both['id']}")).json() == both | {"campaigns": [kept, second]}
        assert (await admin.get(f"{PATH}/{single['id']}")).json() == single | {"campaigns": []}
        filled = await admin.put(f"{PATH}/{single['id']}", json={"name": "single", "campaigns": [second]})
        assert (filled.status_code, filled.json()["campaigns"]) == (200, [second])

    @pytest.mark.parametrize(
        ("held", "deleted_first"),
        [
            ("SELECT id FROM annotation.campaigns WHERE id = %(deleted)s FOR UPDATE", True),
            ("SELECT pg_advisory_xact_lock(hashtextextended('studies/names', 0))", False),
        ],
    )
    async def test_come_before_or_after_a_study_of_the_campaign(
        self, suite: RunningSuite, databases: Databases, held: str, deleted_first: bool
    ):
        """The request that is sent first waits for the lock that is held here, and the other one waits for it."""
        admin = await suite.client("annotation", "admin")
        kept, deleted = await _drafts(suite, 2)
        requests: list[tuple[str, str, Any]] = [
            ("DELETE", f"/v1/campaigns/{deleted}", None),
            ("POST", PATH, {"name": "s", "campaigns": [kept, deleted]}),
        ]
        running = []
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute(held.encode(), {"deleted": deleted})
            for method, path, body in requests if deleted_first else requests[::-1]:
                running.append(asyncio.create_task(admin.request(method, path, json=body)))
                await locks_awaited(databases.admin_url(suite.database), len(running))
        deletion, study = [await each for each in (running if deleted_first else running[::-1])]
        assert deletion.status_code == 204
        if deleted_first:
            assert (_problem(study), _pointers(study)) == ((422, "unknown-campaign"), ["/campaigns/1"])
        else:
            assert (study.status_code, study.json()["campaigns"]) == (201, [kept, deleted])
            assert (await admin.get(f"{PATH}/{study.json()['id']}")).json()["campaigns"] == [kept]


class TestListStudies:
    async def test_has_all_oldest_first_or_those_of_a_name(self, suite: RunningSuite):
        client = await suite.annotation("analyst")
        admin = await suite.client("annotation", "admin")
        tasks = await _tasks(suite, "one", "two")
        ids = [(await created(admin, PATH, {"name": name, "campaigns": tasks}))["id"] for name in ("c", "a", "b")]
        assert [str(each.id) async for each in client.list_studies(page_size=2)] == ids
        assert [str(each.id) async for each in client.list_studies(name="a")] == ids[1:2]
        assert [each async for each in client.list_studies(name="d")] == []
        assert (await admin.get(PATH, params={"cursor": "x"})).status_code == 422


class TestRoles:
    async def test_may_read_what_they_may_read_of_labels_and_only_administrators_write(self, suite: RunningSuite):
        """A frontend would learn which campaigns, and which chats, are of the same dialogues."""
        body = {"name": "s", "campaigns": await _tasks(suite, "one")}
        path = f"{PATH}/{(await created(await suite.client('annotation', 'admin'), PATH, body))['id']}"
        reads: list[tuple[str, str, Any]] = [("GET", PATH, None), ("GET", path, None)]
        writes: list[tuple[str, str, Any]] = [("POST", PATH, body), ("PUT", path, body), ("DELETE", path, None)]
        due = {"analyst": (200, 403), "service": (200, 403), "annotation": (403, 403), "team": (403, 403)}
        clients = {role: await suite.client("annotation", role, team="t" if role == "team" else None) for role in due}
        async with httpx.AsyncClient(base_url=suite.urls["annotation"], trust_env=False) as stranger:
            clients["nobody"], due["nobody"] = stranger, (401, 401)
            for role, client in clients.items():
                found = [
                    {(await client.request(method, target, json=sent)).status_code for method, target, sent in requests}
                    for requests in (reads, writes)
                ]
                assert (role, found) == (role, [{status} for status in due[role]])
        assert (await (await suite.client("annotation", "admin")).get(path)).status_code == 200


class TestClient:
    async def test_creates_reads_replaces_and_deletes(self, suite: RunningSuite):
        first, second = [UUID(each) for each in await _tasks(suite, "one", "two")]
        async with AsyncAnnotation(suite.urls["annotation"], await suite.keys.make("admin")) as client:
            request = StudyIn(name="s", campaigns=(first,))
            study = await client.create_study(request, idempotency_key="k")
            assert await client.create_study(request, idempotency_key="k") == study
            assert await client.get_study(study.id) == study
            more = StudyIn(name="s", campaigns=(first, second), outcome="quality")
            replaced = await client.replace_study(study.id, more)
            assert replaced == study.model_copy(update={"campaigns": (first, second), "outcome": "quality"})
            await client.delete_study(study.id)
            with pytest.raises(NotFound):
                await client.get_study(study.id)
