from typing import Any

import httpx
import pytest

from tests.factories.annotating import WHOLE
from tests.factories.campaigns import (
    UNLABELLED,
    imported_annotation,
    open_campaign,
    package_rows,
    unlabelled_campaign,
    upload,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

PACKAGES = package_rows(UNLABELLED)
NO_IMPORTS = "urn:spotthebot:problem:campaign-takes-no-imports"


def _answer(first: str) -> dict[str, Any]:
    return WHOLE | {"entity": {"A": first, "B": "bot"}}


async def _counts(suite: RunningSuite, path: str) -> tuple[int, int]:
    admin = await suite.client("annotation", "admin")
    found = (await admin.get(path)).json()
    return found["packages"], found["annotations"]


def _pointers(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text
    return [fault["pointer"] for fault in answer.json()["errors"]]


class TestImportPackages:
    async def test_stores_a_repeated_batch_once(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        third = {"external_id": "r", "segments": [{"conversation": "c1", "exchanges": 1}]}
        again = await upload(suite, path, "packages", [*PACKAGES, third])
        assert again.json() == {"stored": 1, "already_there": 2}
        assert await _counts(suite, path) == (3, 0)

    async def test_points_at_unknown_references_and_stores_nothing(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        wrong = [{"conversation": "nowhere", "exchanges": 1}, {"conversation": "c1", "exchanges": 4}]
        right = {"external_id": "r", "segments": [{"conversation": "c1", "exchanges": 1}]}
        answer = await upload(suite, path, "packages", [right, {"external_id": "s", "segments": wrong}])
        assert _pointers(answer) == ["/packages/1/segments/0", "/packages/1/segments/1"]
        assert "has 3 exchanges, not 4" in answer.text
        assert await _counts(suite, path) == (2, 0)

    async def test_refuses_a_segment_that_another_package_shows(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        taken = {"conversation": "c0", "exchanges": 1}
        free = {"conversation": "c1", "exchanges": 1}
        by_another = await upload(suite, path, "packages", [{"external_id": "r", "segments": [free, taken]}])
        assert _pointers(by_another) == ["/packages/0/segments/1"]
        assert "package p" in by_another.text
        both = [{"external_id": name, "segments": [free]} for name in ("r", "s")]
        assert _pointers(await upload(suite, path, "packages", both)) == ["/packages/1/segments/0"]
        twice = await upload(suite, path, "packages", [{"external_id": "r", "segments": [free, free]}])
        assert "/packages/0" in _pointers(twice)
        assert await _counts(suite, path) == (2, 0)

    async def test_takes_conversations_that_came_to_the_collection_later(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        admin = await suite.client("annotation", "admin")
        collection = (await admin.get(path)).json()["collection_id"]
        conversations = await suite.client("conversations", "admin")
        later = {"conversations": [conversation("c2", "X", "Y")]}
        await created(conversations, f"/v1/collections/{collection}/conversations", later)
        package = {"external_id": "r", "segments": [{"conversation": "c2", "exchanges": 3}]}
        assert (await upload(suite, path, "packages", [package])).json() == {"stored": 1, "already_there": 0}


class TestImportAnnotations:
    async def test_stores_a_repeated_batch_once(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        rows = [imported_annotation("a"), imported_annotation("b", annotator="bob", answer=_answer("bot"))]
        assert (await upload(suite, path, "annotations", rows)).json() == {"stored": 2, "already_there": 0}
        changed = [imported_annotation("a", answer=_answer("unsure")), imported_annotation("c", annotator="cy")]
        assert (await upload(suite, path, "annotations", changed)).json() == {"stored": 1, "already_there": 1}
        service = await suite.client("annotation", "service")
        stored = (await service.get(f"{path}/annotations")).json()["items"]
        assert [(each["annotator"], each["answer"]["entity"]["A"]) for each in stored] == [
            ("ann", "human"),
            ("bob", "bot"),
            ("cy", "human"),
        ]

    async def test_points_at_unknown_references_and_stores_nothing(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        rows = [
            imported_annotation("a"),
            imported_annotation("b", package="nowhere"),
            imported_annotation("c", conversation="nowhere"),
            imported_annotation("d", exchanges=2),  # q shows c0 up to there, p does not
        ]
        answer = await upload(suite, path, "annotations", rows)
        assert _pointers(answer) == ["/annotations/1", "/annotations/2", "/annotations/3"]
        assert await _counts(suite, path) == (2, 0)

    @pytest.mark.parametrize(
        "moment", ["2020-03-01T10:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "yesterday"]
    )
    async def test_refuses_a_time_that_some_time_zones_cannot_express(self, suite: RunningSuite, moment: str):
        path = await unlabelled_campaign(suite)
        answer = await upload(suite, path, "annotations", [imported_annotation("a", started_at=moment)])
        assert "/annotations/0/started_at" in _pointers(answer)

    async def test_keeps_times_as_they_were_uploaded(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        moment = "2020-03-01T10:00:00+02:00"
        await upload(suite, path, "annotations", [imported_annotation("a", started_at=moment)])
        analyst = await suite.client("annotation", "analyst")
        (stored,) = (await analyst.get(f"{path}/annotations")).json()["items"]
        assert (stored["started_at"], stored["ended_at"]) == ("2020-03-01T08:00:00Z", None)


class TestModes:
    async def test_a_live_campaign_takes_no_uploads(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        path = f"/v1/campaigns/{(await open_campaign(suite, collection))['id']}"
        for kind, rows in (("packages", PACKAGES), ("annotations", [imported_annotation("a")])):
            answer = await upload(suite, path, kind, rows)
            assert (answer.status_code, answer.json()["type"]) == (409, NO_IMPORTS)

    async def test_an_imported_campaign_gives_out_no_packages(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        frontend = await suite.client("annotation", "annotation")
        answer = await frontend.post(f"{path}/assignments", json={"annotator": "w"})
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:campaign-takes-no-claims")

    async def test_a_closed_import_campaign_still_takes_uploads(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{path}/close")).json()["state"] == "closed"
        assert (await upload(suite, path, "annotations", [imported_annotation("a")])).status_code == 201

    @pytest.mark.parametrize("role", ["annotation", "analyst", "service"])
    async def test_refuses_uploads_by_others_than_admins(self, suite: RunningSuite, role: str):
        path = await unlabelled_campaign(suite)
        client = await suite.client("annotation", role)
        answer = await client.post(f"{path}/annotations", json={"annotations": [imported_annotation("a")]})
        assert answer.status_code == 403
