"""Subscriptions: their secrets and addresses, who may make them, and who may see them."""

from typing import Any

from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.events.store import EVENTS
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.events.subscriptions import MAX_SUBSCRIPTIONS
from tests.factories.held_texts import tables_that_hold
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
REQUEST = {"url": "http://127.0.0.1:9/hooks", "events": ["collection.finished"]}
OF_BOTS = {"url": "http://127.0.0.1:9/hooks", "events": ["bot.failing"]}


class TestSecrets:
    async def test_are_made_and_shown_once(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        made = await created(admin, "/v1/subscriptions", REQUEST)
        assert made["secret"].startswith("whsec_")
        assert len(made["secret"]) == len("whsec_") + 44  # the base64 of 32 bytes
        found = (await admin.get(f"/v1/subscriptions/{made['id']}")).json()
        assert found == {key: made[key] for key in made if key != "secret"}
        assert (await admin.get("/v1/subscriptions")).json()["items"] == [found]

    async def test_are_null_in_the_answer_to_a_repeated_request(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        answers = [
            await admin.post("/v1/subscriptions", json=REQUEST, headers={"Idempotency-Key": "once"}) for _ in range(2)
        ]
        first, again = (answer.json() for answer in answers)
        assert first["secret"]
        assert again == first | {"secret": None}
        assert len((await admin.get("/v1/subscriptions")).json()["items"]) == 1

    async def test_are_in_no_table_unencrypted(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        made = await admin.post(
            "/v1/subscriptions", json=REQUEST | {"secret": SECRET}, headers={"Idempotency-Key": "k"}
        )
        rotated = await admin.post(
            f"/v1/subscriptions/{made.json()['id']}/secret", json={}, headers={"Idempotency-Key": "k"}
        )
        assert rotated.status_code == 201
        for secret in (SECRET, rotated.json()["secret"]):
            assert secret.startswith("whsec_")
            assert tables_that_hold(suite, "conversations", secret.removeprefix("whsec_")) == set()
        assert tables_that_hold(suite, "conversations", "127.0.0.1:9/hooks") != set()  # so that it would be found

    async def test_are_refused_where_they_are_not_of_the_standard(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        for secret in ("hush", "whsec_", "whsec_c2hvcnQ="):
            answer = await admin.post("/v1/subscriptions", json=REQUEST | {"secret": secret})
            assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/secret")


class TestAddresses:
    async def test_are_refused_with_a_pointer_where_they_are_hostile(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        made = await created(admin, "/v1/subscriptions", REQUEST)
        for url in (
            *("http://169.254.169.254/latest", "http://10.0.0.1/", "http://[fe80::1]/", "http://[::ffff:10.0.0.1]/"),
            *("ftp://example.org/", "http://user:pass@example.org/", "nowhere"),
        ):
            answers = [
                await admin.post("/v1/subscriptions", json=REQUEST | {"url": url}),
                await admin.patch(f"/v1/subscriptions/{made['id']}", json={"url": url}),
            ]
            for answer in answers:
                assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/url"), url
        (kept,) = (await admin.get("/v1/subscriptions")).json()["items"]
        assert kept["url"] == REQUEST["url"]


class TestCallers:
    async def test_subscribe_to_events_of_bots_only_as_teams(self, suite: RunningSuite):
        team = await suite.client("conversations", "team", team="ours")
        refused = await team.post("/v1/subscriptions", json=REQUEST)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/events")
        assert "collection.finished" in refused.json()["detail"]
        made = await created(team, "/v1/subscriptions", OF_BOTS)
        assert made["team"] == "ours"
        admin = await suite.client("conversations", "admin")
        path = f"/v1/subscriptions/{made['id']}"
        for caller in (team, admin):  # nobody can make a team's subscription tell it more
            assert (await caller.patch(path, json=REQUEST)).status_code == 422

    async def test_see_no_subscription_of_another_team(self, suite: RunningSuite):
        admin, ours, theirs = (
            await suite.client("conversations", "admin"),
            await suite.client("conversations", "team", team="ours"),
            await suite.client("conversations", "team", team="theirs"),
        )
        made = {
            name: (await created(client, "/v1/subscriptions", OF_BOTS))["id"]
            for name, client in {"admin": admin, "ours": ours, "theirs": theirs}.items()
        }
        for path in (f"/v1/subscriptions/{made['theirs']}", f"/v1/subscriptions/{made['admin']}"):
            answers = [
                await ours.get(path),
                await ours.patch(path, json={"active": False}),
                await ours.delete(path),
                await ours.get(f"{path}/deliveries"),
                await ours.post(f"{path}/secret", json={}),
                await ours.post(f"{path}/test"),
                await ours.post(f"{path}/replay", json={"since": "2026-01-01T00:00:00Z"}),
            ]
            assert [answer.status_code for answer in answers] == [404] * 7
        assert [each["id"] for each in (await ours.get("/v1/subscriptions")).json()["items"]] == [made["ours"]]
        assert len((await admin.get("/v1/subscriptions")).json()["items"]) == 3

    async def test_are_refused_for_other_roles_and_for_teams_without_a_name(self, suite: RunningSuite):
        for role in ("analyst", "annotation", "service"):
            client = await suite.client("conversations", role)
            assert (await client.get("/v1/subscriptions")).status_code == 403
            assert (await client.get("/v1/events")).status_code == 403
        nameless = await suite.client("conversations", "team")
        for answer in (await nameless.get("/v1/subscriptions"), await nameless.post("/v1/subscriptions", json=OF_BOTS)):
            assert (answer.status_code, "--team" in answer.json()["detail"]) == (422, True)

    async def test_have_a_limited_number_of_subscriptions(self, suite: RunningSuite):
        database = Database(suite.database.app["conversations"], pool_size=1)
        async with database.write() as session:
            for _ in range(MAX_SUBSCRIPTIONS):
                await EVENTS.subscriptions.add_subscription(
                    session, team=None, url="http://a", events=(EventType.BOT_FAILING,), sealed_secret=b""
                )
        await database.close()
        admin = await suite.client("conversations", "admin")
        answer = await admin.post("/v1/subscriptions", json=REQUEST)
        assert (answer.status_code, str(MAX_SUBSCRIPTIONS) in answer.json()["detail"]) == (409, True)
        team = await suite.client("conversations", "team", team="ours")
        await created(team, "/v1/subscriptions", OF_BOTS)


class TestChanges:
    async def test_are_refused_with_a_pointer_to_the_faulty_field(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        made = await created(admin, "/v1/subscriptions", REQUEST)
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"events": []}, "/events"),
            ({"events": ["bot.exploded"]}, "/events/0"),
            ({"colour": "red"}, "/colour"),
        ]
        for body, pointer in wrong:
            answer = await admin.patch(f"/v1/subscriptions/{made['id']}", json=body)
            assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)

    async def test_apply_to_url_events_and_activity_and_deletion_is_final(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        path = f"/v1/subscriptions/{(await created(admin, '/v1/subscriptions', REQUEST))['id']}"
        changes = {"url": "http://127.0.0.1:8/", "events": ["bot.failing", "bot.failing"], "active": False}
        changed = (await admin.patch(path, json=changes)).json()
        assert changed["url"] == changes["url"]
        assert changed["events"] == ["bot.failing"]
        assert changed["active"] is False
        test = await admin.post(f"{path}/test")
        assert (test.status_code, "Switched off" in test.json()["detail"]) == (409, True)
        assert (await admin.delete(path)).status_code == 204
        assert (await admin.get(path)).status_code == 404
