"""Exports of campaigns: the same rows in every format, without the names of people, and an import that equals them."""

import csv
import io
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest

from tests.factories.annotating import ask, claim, save, submit, work_through
from tests.factories.campaign_exports import exported, lines
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

NAMES = ("Ada Lovelace", "Alan Turing", "Grace Hopper")
OTHERS = ("Edsger Dijkstra", "Barbara Liskov", "Tony Hoare")
"""People of a campaign that publishes names and erases one of them."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics"


@pytest.fixture(scope="module")
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """All tests use one: each looks at campaigns of its own, or only reads those that are shared."""
    return module_suite


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite) -> dict[str, Any]:
    return await annotated(suite, await campaign_of(suite))


@pytest.fixture(scope="module")
async def study(suite: RunningSuite) -> dict[str, Any]:
    """A campaign over six conversations of four bots."""
    return await annotated(suite, await _study(suite))


async def annotated(suite: RunningSuite, campaign: dict[str, Any], names: Sequence[str] = NAMES) -> dict[str, Any]:
    """Let everybody annotate at random until nothing is left for them."""
    rng = random.Random(1)
    for name in names:
        while (claimed := await ask(suite, campaign, name)).status_code == 201:
            assignment = claimed.json()
            for item in assignment["items"]:
                entity = {side: rng.choice(["human", "bot", "unsure"]) for side in "AB"}
                features = {name: rng.choice(["A", "B", "tie"]) for name in ("fluency", "sensibleness", "specificity")}
                position = item["position"]
                assert (await save(suite, assignment, position, {"entity": entity}, show_step=2)).status_code == 200
                answer = await save(suite, assignment, position, {"entity": entity} | features, elapsed_ms=900)
                assert answer.status_code == 200
            assert (await submit(suite, assignment)).status_code == 200
    return campaign


class TestFormats:
    @pytest.mark.parametrize("rows", ["annotations", "values", "packages"])
    async def test_hold_the_same_rows(self, suite: RunningSuite, campaign: dict[str, Any], rows: str):
        plain = await lines(suite, campaign["id"], rows=rows)
        table = pq.read_table(io.BytesIO(await exported(suite, campaign["id"], "parquet", rows=rows))).to_pylist()
        cells = list(csv.DictReader(io.StringIO((await exported(suite, campaign["id"], "csv", rows=rows)).decode())))
        done = 3 * 2 * 2  # three annotators, each with a package of two items from either block
        expected = {"annotations": done, "values": done * 5, "packages": 8}
        assert len(plain) == expected[rows]
        for line, row, cell in zip(plain, table, cells, strict=True):
            read = {name: each.isoformat() if hasattr(each, "isoformat") else each for name, each in row.items()}
            written = {"answer", "decisions", "question_order"}
            if rows == "annotations":
                for each in (read, cell):
                    each |= {name: json.loads(each[name]) for name in written}
            times = {name: each.replace("Z", "+00:00") for name, each in line.items() if each and name.endswith("_at")}
            assert read == line | times
            assert cell == {name: each if name in written else _cell(each) for name, each in line.items()}

    async def test_have_a_row_for_each_value_of_an_answer(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await work_through(suite, await claim(suite, campaign, "ann"))
        found = defaultdict(list)
        for row in await lines(suite, campaign["id"], rows="values"):
            found[row["id"]].append((row["question"], row["target"], row["value"], row["number"]))
        assert [*found.values()] == [
            [
                ("entity", "A", "human", None),
                ("entity", "B", "bot", None),
                ("fluency", None, "A", None),
                ("sensibleness", None, "tie", None),
                ("specificity", None, "B", None),
            ]
        ] * 2

    async def test_write_no_formula_that_a_spreadsheet_would_run(self, suite: RunningSuite):
        campaign = await campaign_of(suite, name="=HYPERLINK(1)")
        await work_through(suite, await claim(suite, campaign, "@SUM(A1)"))
        content = (await exported(suite, campaign["id"], "csv", role="admin", annotators="ids")).decode()
        (row, *_) = csv.DictReader(io.StringIO(content))
        assert (row["campaign"], row["annotator"]) == ("'=HYPERLINK(1)", "'@SUM(A1)")


class TestPseudonyms:
    async def test_stand_for_people_everywhere_and_differ_between_campaigns(self, suite: RunningSuite):
        secret = "ab" * 32  # not what they are made with
        one, other = [await annotated(suite, await campaign_of(suite, 2, secret=secret)) for _ in range(2)]
        analyst = await suite.client("annotation", "analyst")
        admin = await suite.client("annotation", "admin")
        service = await suite.client("annotation", "service")
        for campaign in (one, other):
            path = f"/v1/campaigns/{campaign['id']}"
            known = {
                each["annotator"]: each["pseudonym"] for each in (await admin.get(f"{path}/annotators")).json()["items"]
            }
            assert {*known} == {*NAMES}
            bodies = [
                await exported(suite, campaign["id"], form, rows=rows)
                for form, rows in itertools.product(("ndjson", "csv", "parquet"), ("annotations", "values"))
            ]
            bodies += [
                (await each.get(f"{path}/annotations{end}")).content
                for each in (admin, analyst, service)
                for end in ("", "/stream")
            ]
            for body, name in itertools.product(bodies, NAMES):
                assert name.split()[0].encode() not in body
            assert {each["annotator"] for each in await lines(suite, campaign["id"])} == {*known.values()}
            campaign["known"] = known
        assert {*one["known"].values()}.isdisjoint(other["known"].values())

    async def test_give_way_to_ids_for_administrators_alone_and_in_the_audit_log(
        self, suite: RunningSuite, campaign: dict[str, Any]
    ):
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        for role, status in (("analyst", 403), ("service", 403), ("annotation", 403)):
            client = await suite.client("annotation", role)
            assert (await client.get(f"{path}/export", params={"annotators": "ids"})).status_code == status
        await exported(suite, campaign["id"], role="admin")
        assert (await admin.get(f"{path}/audit")).json()["items"] == []
        named = await lines(suite, campaign["id"], role="admin", annotators="ids")
        assert {each["annotator"] for each in named} == {*NAMES}
        (entry,) = (await admin.get(f"{path}/audit")).json()["items"]
        assert (entry["action"], entry["details"]) == ("annotations.exported", {"rows": "annotations"})

    async def test_are_what_analyses_show(self, suite: RunningSuite, study: dict[str, Any]):
        pseudonyms = {each["annotator"] for each in await lines(suite, study["id"])}
        path = f"/v1/campaigns/{study['id']}"
        for role in ("analyst", "admin"):
            client = await suite.client("analytics", role)
            shown = (await client.get(f"{path}/annotators")).json()["annotators"]["annotators"]
            assert {each["annotator"] for each in shown} == pseudonyms
            document = (await client.get(f"{path}/analysis")).text
            assert not [name for name in NAMES if name.split()[0] in document]
        with psycopg.connect(suite.database.owner["analytics"]) as connection:
            kept = connection.execute("SELECT convert_from(body, 'UTF8') FROM analytics.results").fetchall()
        assert kept
        assert not [name for name in NAMES if name.split()[0] in str(kept)]

    async def test_give_way_to_names_that_are_published(self, suite: RunningSuite):
        campaign = await annotated(suite, await _study(suite), OTHERS)
        private, published = [
            await _copied(suite, campaign, annotators="ids", annotators_published=each) for each in (False, True)
        ]
        analyst = await suite.client("analytics", "analyst")
        for copy, are_shown in ((private, False), (published, True)):
            answer = await analyst.get(f"/v1/campaigns/{copy['id']}/annotators")
            found = {each["annotator"] for each in answer.json()["annotators"]["annotators"]}
            assert found == {each["annotator"] for each in await lines(suite, copy["id"])}
            assert (found == {*OTHERS}) is are_shown
        admin = await suite.client("annotation", "admin")
        (ada,) = [
            each["id"]
            for each in (await admin.get(f"/v1/campaigns/{published['id']}/annotators")).json()["items"]
            if each["annotator"] == OTHERS[0]
        ]
        assert (await admin.post(f"/v1/campaigns/{published['id']}/annotators/{ada}/erase")).status_code == 200
        assert OTHERS[0] not in (await analyst.get(f"/v1/campaigns/{published['id']}/annotators")).text
        body = {"name": "live", "domain": "everyday", "collection_id": campaign["collection_id"]}
        refused = await admin.post("/v1/campaigns", json=body | {"annotators_published": True})
        assert refused.status_code == 422
        assert "is for mode import" in refused.text

    async def test_are_kept_from_frontends_which_may_export_nothing(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"/v1/campaigns/{campaign['id']}/export")).status_code == 403


class TestImports:
    async def test_equal_the_export_and_give_the_same_figures(self, suite: RunningSuite, study: dict[str, Any]):
        copy = await _copied(suite, study)
        await _assert_equal(suite, study, copy)
        analyst = await suite.client("analytics", "analyst")
        for figure in ("ranking", "fooling-rates", "survival", "agreement", "annotators", "time"):
            answers = [await analyst.get(f"/v1/campaigns/{each['id']}/{figure}") for each in (study, copy)]
            assert [each.status_code for each in answers] == [200, 200], figure
            one, other = (each.json() for each in answers)
            for each in (one, other):
                assert len(each.pop("data_sha256")) == 64  # of the data with the ids of conversations
                del each["campaign_id"], each["campaign"]
            assert one == other, figure

    async def test_equal_the_export_under_a_protocol_of_ones_own(self, suite: RunningSuite):
        protocol = await _protocol(suite)
        collection = await import_conversations(suite, [conversation(f"c{n}", "P", "Q") for n in range(3)])
        campaign = await open_campaign(suite, collection, protocol=protocol, package_size=3)
        for name in NAMES[:2]:
            assignment = await claim(suite, campaign, name)
            for item in assignment["items"]:
                answer = {"trust": 1 + item["position"], "kinds": {"1": [], "3": ["dull"], "5": ["rude", "dull"]}}
                assert (await save(suite, assignment, item["position"], answer)).status_code == 200
            assert (await submit(suite, assignment)).status_code == 200
        values = await lines(suite, campaign["id"], rows="values")
        rated = {(each["question"], each["target"], each["value"], each["number"]) for each in values[:5]}
        assert rated == {
            ("trust", None, "1", 1),
            ("kinds", "1", None, None),
            ("kinds", "3", "dull", None),
            ("kinds", "5", "rude", None),
            ("kinds", "5", "dull", None),
        }
        await _assert_equal(suite, campaign, await _copied(suite, campaign, protocol=protocol))

    async def test_equal_the_export_of_a_game_with_the_turn_of_each_decision(self, suite: RunningSuite):
        protocol = "spot_the_bot_gamified"
        collection = await import_conversations(suite, [conversation("c", "P", "Q")])
        campaign = await open_campaign(suite, collection, protocol=protocol, protocol_version=1, segments=[3])
        assignment = await claim(suite, campaign, NAMES[0])
        frontend = await suite.client("annotation", "annotation")
        for number, entity in ((1, {"A": "bot"}), (2, {"A": "bot", "B": "human"})):
            path = f"/v1/assignments/{assignment['id']}/items/0/exchanges"
            assert (await frontend.post(path, json={"open": number})).status_code == 200
            assert (await save(suite, assignment, 0, {"entity": entity})).status_code == 200
        assert (await submit(suite, assignment)).status_code == 200
        values = await lines(suite, campaign["id"], rows="values")
        assert [(each["target"], each["value"], each["decided_exchanges"]) for each in values] == [
            ("A", "bot", 1),
            ("B", "human", 2),
        ]
        assert all(each["started_at"] <= each["decided_at"] <= each["ended_at"] for each in values)
        await _assert_equal(suite, campaign, await _copied(suite, campaign, protocol=protocol))

    async def test_equal_the_export_of_pairs(self, suite: RunningSuite):
        conversations = [conversation(f"c{n}", *pair) for n, pair in enumerate(itertools.combinations("PQRS", 2))]
        collection = await import_conversations(suite, conversations)
        campaign = await open_campaign(suite, collection, protocol="comparative", package_size=2)
        for name in NAMES[:2]:
            assignment = await claim(suite, campaign, name)
            (step,) = assignment["protocol"]["steps"]
            answer = {question["id"]: "A" for question in step["questions"]}
            for item in assignment["items"]:
                assert (await save(suite, assignment, item["position"], answer)).status_code == 200
            assert (await submit(suite, assignment)).status_code == 200
        assert all(each["right_conversation"] for each in await lines(suite, campaign["id"]))
        await _assert_equal(suite, campaign, await _copied(suite, campaign, protocol="comparative"))

    async def test_refuse_pairs_that_can_t_be_shown(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{n}", "P", "Q") for n in range(3)])
        admin = await suite.client("annotation", "admin")
        body = {"mode": "uploaded", "name": "u", "domain": "everyday", "collection_id": collection}
        path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body | {'protocol': 'comparative'}))['id']}"
        await until(admin, path, "draft")

        def package(name: str, left: str, right: str | None, exchanges: int = 3) -> dict[str, Any]:
            beside = {"right": {"conversation": right, "exchanges": exchanges}} if right else {}
            return {"external_id": name, "segments": [{"conversation": left, "exchanges": 3} | beside]}

        good = {"packages": [package("p", "c0", "c1")]}
        for stored in (1, 0):  # sent again
            assert (await created(admin, f"{path}/packages", good))["stored"] == stored
        wrong = [package("q", "c2", *each) for each in ((None,), ("c2",), ("c1",), ("c0", 4))]
        for each in wrong:
            answer = await admin.post(f"{path}/packages", json={"packages": [each]})
            assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/packages/0/segments/0")
        twice = package("q", "c2", "c0")
        twice["segments"] += package("q", "c1", "c0")["segments"]
        answer = await admin.post(f"{path}/packages", json={"packages": [twice]})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/packages/0")
        plain = await created(admin, "/v1/campaigns", body)
        await until(admin, f"/v1/campaigns/{plain['id']}", "draft")
        answer = await admin.post(f"/v1/campaigns/{plain['id']}/packages", json=good)
        assert (answer.status_code, answer.json()["errors"][0]["detail"]) == (422, "the protocol has no pairs")

    async def test_refuse_answers_that_nobody_could_have_submitted(self, suite: RunningSuite, campaign: dict[str, Any]):
        copy = await _copied(suite, campaign, annotations=False)
        row = _annotation((await lines(suite, campaign["id"]))[0])
        whole = row["answer"]
        partial = {name: whole[name] for name in ("entity", "fluency")}
        wrong = [whole | {"entity": {"A": "alien", "B": "bot"}}, partial, whole | {"mood": "good"}]
        admin = await suite.client("annotation", "admin")
        uploaded = {"annotations": [row | {"answer": each} for each in wrong]}
        answer = await admin.post(f"/v1/campaigns/{copy['id']}/annotations", json=uploaded)
        assert answer.status_code == 422
        assert [each["pointer"] for each in answer.json()["errors"]] == [
            "/annotations/0/answer/entity/A",
            "/annotations/1/answer/sensibleness",
            "/annotations/1/answer/specificity",
            "/annotations/2/answer/mood",
        ]
        assert await lines(suite, copy["id"]) == []


async def _study(suite: RunningSuite) -> dict[str, Any]:
    conversations = [conversation(f"c{n}", *pair) for n, pair in enumerate(itertools.combinations("PQRS", 2))]
    return await open_campaign(suite, await import_conversations(suite, conversations), package_size=3)


async def _copied(
    suite: RunningSuite,
    campaign: dict[str, Any],
    *,
    protocol: str = "spot_the_bot",
    annotations: bool = True,
    annotators: str = "pseudonyms",
    annotators_published: bool = False,
) -> dict[str, Any]:
    """Import the exports of a campaign and of its collection."""
    conversations = await suite.client("conversations", "admin")
    talks = (await conversations.get(f"/v1/collections/{campaign['collection_id']}/export")).content
    body = {"mode": "import", "name": "copy", "domain": "everyday"}
    collection = await created(conversations, "/v1/collections", body)
    uploaded = await conversations.post(f"/v1/collections/{collection['id']}/uploads", content=talks)
    assert uploaded.json()["rejected"]["count"] == 0
    admin = await suite.client("annotation", "admin")
    request = body | {"collection_id": collection["id"], "segments": campaign["segments"], "protocol": protocol}
    request |= {"annotators_published": annotators_published, "protocol_version": campaign["protocol_version"]}
    path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', request))['id']}"
    await until(admin, path, "open")
    segments = defaultdict(list)
    for item in await lines(suite, campaign["id"], rows="packages"):
        shown = {"conversation": item["conversation"], "exchanges": item["exchanges"]}
        if item["right_conversation"]:
            shown["right"] = {"conversation": item["right_conversation"], "exchanges": item["right_exchanges"]}
        segments[item["package"]].append(shown)
    packages = [{"external_id": package, "segments": shown} for package, shown in segments.items()]
    await created(admin, f"{path}/packages", {"packages": packages})
    if annotations:
        found = await lines(suite, campaign["id"], role="admin", annotators=annotators)
        rows = [_annotation(each) for each in found]
        await created(admin, f"{path}/annotations", {"annotations": rows})
    copy: dict[str, Any] = (await admin.get(path)).json()
    return copy


def _annotation(row: dict[str, Any]) -> dict[str, Any]:
    kept = ("package", "conversation", "exchanges", "annotator", "answer", "started_at", "ended_at", "elapsed_ms")
    more = {name: row[name] for name in ("reported_ms", "decisions", "question_order")}
    return {"external_id": row["id"]} | more | {name: row[name] for name in kept}


async def _assert_equal(suite: RunningSuite, campaign: dict[str, Any], copy: dict[str, Any]) -> None:
    for rows in ("packages", "annotations", "values"):
        one, other = [await lines(suite, each["id"], rows=rows) for each in (campaign, copy)]
        assert one
        assert [each | {"campaign": "copy"} for each in one] == other


async def _protocol(suite: RunningSuite) -> str:
    admin = await suite.client("annotation", "admin")
    choices = [{"value": "rude", "text": "Rude"}, {"value": "dull", "text": "Dull"}]
    questions = [
        {"id": "trust", "kind": "likert", "text": "Trust?", "scale": {"min": 1, "max": 5}},
        {"id": "kinds", "kind": "multiple", "per": "turn", "text": "How?", "choices": choices},
    ]
    document = {
        "format": 1,
        "name": "manners",
        "version": 1,
        "title": "Manners",
        "source": "a test",
        "unit": {"kind": "turns", "speaker": "B"},
        "steps": [{"id": "all", "title": "All", "questions": questions}],
    }
    await created(admin, "/v1/protocols", {"protocol": document})
    return "manners"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


@pytest.mark.parametrize(
    ("name", "file"), [("Who is a bot?", "Who-is-a-bot-packages.csv"), ("???", "campaign-packages.csv")]
)
async def test_a_file_has_the_name_of_its_campaign_as_far_as_a_file_may(suite: RunningSuite, name: str, file: str):
    campaign = await campaign_of(suite, name=name)
    analyst = await suite.client("annotation", "analyst")
    answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/export", params={"format": "csv", "rows": "packages"})
    assert answer.headers["content-disposition"] == f'attachment; filename="{file}"'
