from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.factories.annotating import claim, refused, work_through
from tests.factories.campaigns import create_campaign, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

CONVERSATIONS = [conversation(f"c{number}", "X", "Y") for number in range(4)]
PATH = "/v1/campaigns"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics"


async def _campaign(suite: RunningSuite) -> dict[str, Any]:
    return await open_campaign(suite, await import_conversations(suite, CONVERSATIONS), package_size=2)


class TestAccess:
    async def test_refuses_frontends_that_read_labels_create_or_close(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        frontend = await suite.client("annotation", "annotation")
        for path in ("annotations", "annotations/stream", "packages"):
            assert (await frontend.get(f"/v1/campaigns/{campaign['id']}/{path}")).status_code == 403
        assert (await frontend.post("/v1/campaigns", json={})).status_code == 403
        assert (await frontend.post(f"/v1/campaigns/{campaign['id']}/close")).status_code == 403
        analytics = await suite.client("analytics", "annotation")
        for result in ("win-rates", "ranking", "survival", "fooling-rates"):
            assert (await analytics.get(f"/v1/campaigns/{campaign['id']}/{result}")).status_code == 403


class TestLifecycle:
    async def test_begins_as_a_draft_where_it_is_not_to_open_by_itself(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, CONVERSATIONS)
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "segments": [1], "open": False}
        campaign = await created(admin, PATH, body)
        draft = await until(admin, f"{PATH}/{campaign['id']}", "draft")
        assert (draft["packages"], draft["items"], draft["annotations_needed"]) == (1, 4, 8)
        assert await refused(suite, draft, "w") == "closed"
        for _ in range(2):
            assert (await admin.post(f"{PATH}/{campaign['id']}/open")).json()["state"] == "open"
        assert (await claim(suite, draft, "w"))["state"] == "leased"

    async def test_is_paused_and_opened_again(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        admin = await suite.client("annotation", "admin")
        assignment = await claim(suite, campaign, "w")
        for _ in range(2):
            assert (await admin.post(f"{PATH}/{campaign['id']}/pause")).json()["state"] == "paused"
        await work_through(suite, assignment)
        assert await refused(suite, campaign, "w2") == "closed"
        assert (await admin.post(f"{PATH}/{campaign['id']}/open")).json()["state"] == "open"
        assert (await claim(suite, campaign, "w2"))["state"] == "leased"

    async def test_does_not_go_on_after_its_end(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"{PATH}/{campaign['id']}/close")).json()["state"] == "closed"
        for step in ("open", "pause"):
            answer = await admin.post(f"{PATH}/{campaign['id']}/{step}")
            assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:campaign-cannot-move")


class TestProtocol:
    @pytest.mark.parametrize(
        ("protocol", "problem"),
        [
            ({"protocol": "spot_the_boot"}, "unknown-protocol"),
            ({"protocol": "spot_the_bot", "protocol_version": 99}, "unknown-protocol"),
        ],
    )
    async def test_is_refused_where_no_campaign_can_have_it(
        self, suite: RunningSuite, protocol: dict[str, Any], problem: str
    ):
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, CONVERSATIONS)
        body = {"name": "c", "domain": "everyday", "collection_id": collection} | protocol
        answer = await admin.post(PATH, json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, f"urn:spotthebot:problem:{problem}")


class TestListCampaigns:
    async def test_gives_those_over_a_collection_and_the_newest_first_where_asked(self, suite: RunningSuite):
        first, second = [await import_conversations(suite, CONVERSATIONS) for _ in range(2)]
        made = [
            await open_campaign(suite, over, name=name, **also)
            for name, over, also in (("a", first, {}), ("b", second, {}), ("c", None, {"collections": [second, first]}))
        ]
        client = await suite.annotation("analyst")

        async def names(**asked: Any) -> list[str]:
            return [each.name async for each in client.list_campaigns(page_size=2, **asked)]

        assert await names(collection_id=UUID(first)) == ["a", "c"]
        assert await names(collection_id=UUID(second), order="newest_first") == ["c", "b"]
        assert await names(order="newest_first") == ["c", "b", "a"]
        assert await names(collection_id=UUID(made[0]["id"])) == []


class TestCloseCampaign:
    async def test_gives_out_no_more_packages(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/close")).json()["state"] == "closed"
        assert await refused(suite, campaign, "w") == "closed"

    async def test_changes_nothing_when_repeated(self, suite: RunningSuite):
        path = f"{PATH}/{(await _campaign(suite))['id']}"
        admin = await suite.client("annotation", "admin")
        closed = [(await admin.post(f"{path}/close")).json() for _ in range(2)]
        assert closed[0] == closed[1] == (await admin.get(path)).json()


class TestCreateCampaign:
    async def test_refuses_a_collection_that_is_still_collecting(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            connection.execute("UPDATE conversations.conversations SET state = 'running' WHERE external_id = 'c0'")
            connection.execute("UPDATE conversations.collections SET state = 'collecting', complete = complete - 1")
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection}
        answer = await admin.post("/v1/campaigns", json=body)
        assert (answer.status_code, "1 conversations are unfinished" in answer.text) == (409, True)
        assert (await admin.get("/v1/campaigns")).json()["items"] == []

    async def test_refuses_a_cancelled_collection_and_says_that_it_was_cancelled(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            connection.execute("UPDATE conversations.collections SET state = 'cancelled'")
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection}
        answer = await admin.post(PATH, json=body)
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:collection-cancelled")
        assert "was cancelled" in answer.json()["detail"]
        assert (await admin.get(PATH)).json()["items"] == []

    async def test_leaves_failed_conversations_out(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            connection.execute("UPDATE conversations.conversations SET state = 'failed' WHERE external_id = 'c0'")
        campaign = await open_campaign(suite, collection)
        assert campaign["annotations_needed"] == 3 * 2 * 2  # conversations, segments, annotators

    async def test_fails_with_a_reason_when_every_conversation_is_too_short(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS)
        failed = await create_campaign(suite, "failed", collection, segments=[9])
        assert "9 exchanges" in failed["failure"]
        assert "4 are too short" in failed["failure"]

    async def test_shows_a_conversation_at_every_length_or_at_none_and_counts_those_left_out(self, suite: RunningSuite):
        short = [conversation(f"short{number}", "HU", "HU", exchanges=1) for number in range(3)]
        collection = await import_conversations(suite, [*CONVERSATIONS, *short])
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "segments": [1, 2]}
        assert (await created(admin, PATH, body))["too_short"] is None  # not known before packages are made
        campaign = await open_campaign(suite, collection, segments=[1, 2])
        assert campaign["too_short"] == 3
        assert campaign["packages"] == 2
        assert campaign["annotations_needed"] == 2 * 4 * 2
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            stored = connection.execute(
                "SELECT count(*) FROM annotation.shown_conversations WHERE campaign_id = %s", [campaign["id"]]
            ).fetchone()
        assert stored == (4,)  # of the others nothing is kept

    async def test_makes_the_same_packages_of_the_same_secret_and_seed_and_others_of_a_drawn_one(
        self, suite: RunningSuite
    ):
        collection = await import_conversations(suite, [conversation(f"c{n}", "X", "Y") for n in range(30)])
        analyst = await suite.client("annotation", "analyst")
        secret = "0123456789abcdef" * 4

        async def packages(**more: Any) -> list[Any]:
            campaign = await open_campaign(suite, collection, package_size=5, **more)
            assert secret not in str(campaign)
            listed = (await analyst.get(f"{PATH}/{campaign['id']}/packages")).json()["items"]
            return [package["segments"] for package in listed]

        given = await packages(secret=secret)
        assert given == await packages(secret=secret)
        assert given != await packages(secret=secret, seed=1)
        drawn = [await packages(), await packages()]
        assert drawn[0] != drawn[1]
        assert given not in drawn

    @pytest.mark.parametrize("secret", ["", "0" * 63, "G" * 64, "ABCDEF" * 10 + "ABCD", 7])
    async def test_refuses_a_secret_that_is_not_32_bytes_in_hexadecimal_and_does_not_repeat_it(
        self, suite: RunningSuite, secret: Any
    ):
        admin = await suite.client("annotation", "admin")
        nowhere = "00000000-0000-7000-8000-000000000000"
        body = {"name": "c", "domain": "everyday", "collection_id": nowhere, "secret": secret}
        answer = await admin.post(PATH, json=body)
        assert (answer.status_code, [each["pointer"] for each in answer.json()["errors"]]) == (422, ["/secret"])
        assert not secret or str(secret) not in answer.text

    async def test_refuses_an_unknown_collection(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": "00000000-0000-7000-8000-000000000000"}
        assert (await admin.post("/v1/campaigns", json=body)).status_code == 422

    @pytest.mark.parametrize("segments", [[3, 2], [2, 2], [], [0]])
    async def test_refuses_segments_that_do_not_grow(self, suite: RunningSuite, segments: list[int]):
        admin = await suite.client("annotation", "admin")
        body = {
            "name": "c",
            "domain": "everyday",
            "collection_id": "00000000-0000-7000-8000-000000000000",
            "segments": segments,
        }
        answer = await admin.post("/v1/campaigns", json=body)
        assert answer.status_code == 422
        assert answer.json()["errors"]
