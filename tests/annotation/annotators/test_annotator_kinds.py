"""The kind of an annotator over HTTP: the frontend says it once, and every answer and export has it."""

import json
from typing import Any

import httpx
import pytest

from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.annotating import claim, refused, work_through
from tests.factories.annotator_trainings import store_training, training_campaign
from tests.factories.campaigns import campaign_of, import_campaign, imported_annotation, unlabelled_campaign, upload
from tests.factories.judges import label_campaign, store_judge
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PSEUDONYM = "p-0123456789abcdefghijklmnop"
PAY = {"pay_per_package": "0.10", "currency": "EUR"}
KINDS = {"simulated-1": "person", "ann": "simulated", "gpt": "judge"}


async def ask(suite: RunningSuite, campaign: Any, path: str = "assignments", **body: Any) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/{path}", json=body)


async def listed(suite: RunningSuite, path: str, role: str = "admin") -> list[dict[str, Any]]:
    client = await suite.client("annotation", role)
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def exported(suite: RunningSuite, path: str, **parameters: str) -> list[dict[str, Any]]:
    admin = await suite.client("annotation", "admin")
    answer = await admin.get(f"{path}/export", params=parameters)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


class TestClaims:
    async def test_say_the_kind_which_every_answer_about_the_annotator_has(self, suite: RunningSuite):
        campaign = await campaign_of(suite, 4, segments=[1], annotations_per_segment=3, **PAY)
        for name in ("simulated-1", "ann"):
            kind = {} if KINDS[name] == "person" else {"kind": KINDS[name]}
            await work_through(suite, await claim(suite, campaign, name, **kind))
        await label_campaign(suite, campaign, await store_judge(suite), "gpt")
        path = f"/v1/campaigns/{campaign['id']}"
        people = await listed(suite, f"{path}/annotators")
        assert {each["annotator"]: each["kind"] for each in people} == KINDS
        names = {each["annotator"]: each["pseudonym"] for each in people}
        assert is_pseudonym(names["simulated-1"]), "a name says nothing"
        assert (names["ann"], names["gpt"]) == ("ann", "gpt")
        stated = {names[name]: kind for name, kind in KINDS.items()}
        annotations = await listed(suite, f"{path}/annotations?judges=*", "analyst")
        assert {each["annotator"]: each["annotator_kind"] for each in annotations} == stated
        for rows in ("annotations", "values"):
            found = await exported(suite, path, rows=rows, judges="gpt")
            assert {each["annotator"]: each["annotator_kind"] for each in found} == stated
        by_id = await exported(suite, path, annotators="ids", judges="*")
        assert {each["annotator"]: each["annotator_kind"] for each in by_id} == KINDS
        payments = await listed(suite, f"{path}/payments")
        paid = {name: kind for name, kind in KINDS.items() if kind != "judge"}
        assert {each["annotator"]: each["kind"] for each in payments} == paid
        admin = await suite.client("annotation", "admin")
        table = (await admin.get(f"{path}/payments/file", params={"kind": "payments"})).text.splitlines()
        assert table[0].startswith("annotator,kind,frontend,packages")
        assert {line.split(",")[0]: line.split(",")[1] for line in table[1:]} == paid

    @pytest.mark.parametrize("first", ["person", "simulated", "judge"])
    async def test_with_another_kind_are_refused_and_change_nothing(self, suite: RunningSuite, first: str):
        campaign = await campaign_of(suite)
        of_judge = {"judge": await store_judge(suite)}
        more: dict[str, dict[str, Any]] = {
            kind: {"kind": kind} | (of_judge if kind == "judge" else {}) for kind in KINDS.values()
        }
        held = await claim(suite, campaign, "ann", **more[first])
        for other in more.keys() - {first}:
            answer = await ask(suite, campaign, annotator="ann", **more[other])
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "other-annotator-kind")
            assert f"`{first}` in this campaign, not `{other}`" in answer.json()["detail"]
        assert (await claim(suite, campaign, "ann", **more[first]))["id"] == held["id"]
        (annotator,) = await listed(suite, f"/v1/campaigns/{campaign['id']}/annotators")
        assert (annotator["kind"], annotator["packages"]) == (first, 1)

    async def test_with_unknown_kinds_or_by_programs_like_pseudonyms_are_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert (await ask(suite, campaign, annotator="ann", kind="robot")).status_code == 422
        judge = await store_judge(suite)
        for kind in ({"kind": "simulated"}, {"kind": "judge", "judge": judge}):
            answer = await ask(suite, campaign, annotator=PSEUDONYM, **kind)
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (422, "program-name-unusable")
        assert await listed(suite, f"/v1/campaigns/{campaign['id']}/annotators") == []

    async def test_follow_the_kind_of_a_consent_and_of_a_training(self, suite: RunningSuite):
        campaign = await campaign_of(suite, consent="Read this.")
        sha256 = campaign["consent_sha256"]
        program = {"annotator": "a", "kind": "simulated"}
        assert (await ask(suite, campaign, "consents", sha256=sha256, **program)).status_code == 200
        assert await refused(suite, campaign, "a") == "other-annotator-kind"
        assert (await ask(suite, campaign, **program)).status_code == 201
        await store_training(suite)
        trained = await training_campaign(suite)
        assert (await ask(suite, trained, "training", annotator="b", kind="simulated")).status_code == 200
        assert await refused(suite, trained, "b") == "other-annotator-kind"


class TestImports:
    async def test_keep_the_kind(self, suite: RunningSuite):
        shown = {"p": [("c0", 1)]}
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        said = [
            imported_annotation(name, annotator=name, **({} if kind == "person" else {"annotator_kind": kind}))
            for name, kind in KINDS.items()
        ]
        path = await import_campaign(suite, collection, shown, said)
        everybody = await exported(suite, path, judges="*")
        found = {each["annotator"]: each["annotator_kind"] for each in everybody}
        assert found.pop("ann") == "simulated"
        assert found.pop("gpt") == "judge"
        assert [*found.values()] == ["person"]
        assert is_pseudonym(*found)

    async def test_refuse_an_annotator_of_two_kinds_and_programs_like_pseudonyms(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        first = imported_annotation("1", annotator_kind="judge")
        both = [first, imported_annotation("2", conversation="c1", exchanges=2)]
        for rows in (both, both[1:] + both[:1]):
            answer = await upload(suite, path, "annotations", rows)
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "other-annotator-kind")
        assert (await upload(suite, path, "annotations", [first])).json()["stored"] == 1
        assert (await upload(suite, path, "annotations", both[1:])).status_code == 409
        program = imported_annotation("3", annotator=PSEUDONYM, annotator_kind="simulated")
        assert (await upload(suite, path, "annotations", [program])).status_code == 422
