"""Versions, secrets and owners of bots: what may change, and who may change it."""

import asyncio
import base64
import json
from typing import Any

import psycopg
from psycopg import sql

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import add_bot, created, plan, until

SECRET = "whsec_" + base64.b64encode(b"a key of at least 24 bytes").decode()


class TestVersions:
    async def test_stay_as_they_are_and_are_followed_by_others(self, suite: RunningSuite):
        async with (
            bot(lambda _: {"text": "The first."}) as (_, first),
            bot(lambda _: {"text": "The second."}) as (_, second),
        ):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(first))
            path = f"/v1/bots/{out['id']}"
            later = await created(admin, f"{path}/versions", {"protocol": {"kind": "webhook", "url": second}})
            assert (later["version"], later["id"]) == (2, out["id"])
            assert later["configuration_sha256"] != out["configuration_sha256"]
            versions = (await admin.get(f"{path}/versions")).json()["items"]
            assert [each["number"] for each in versions] == [1, 2]
            assert versions[0]["configuration_sha256"] == out["configuration_sha256"]
            said = []
            for version in (None, 1, 2):
                body: dict[str, Any] = {"contexts": [{"turns": []}]} | ({"version": version} if version else {})
                said.append((await admin.post(f"{path}/replies", json=body)).json()["replies"][0]["text"])
            assert said == ["The second.", "The first.", "The second."]
            missing = await admin.post(f"{path}/replies", json={"contexts": [{"turns": []}], "version": 3})
            assert missing.status_code == 404

    async def test_are_kept_by_the_conversations_that_began_with_them(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            admin = await suite.client("bots", "admin")
            ours = await created(admin, "/v1/bots", webhook(url))
            dull = await add_bot(suite, "dull")
            collections = await suite.client("conversations", "admin")
            collection = await created(collections, "/v1/collections", plan([ours["id"], dull]))
            await until(collections, f"/v1/collections/{collection['id']}", "complete")
            held = (await collections.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        sides = [side for each in held for side in each["participants"] if side["bot_id"] == ours["id"]]
        assert {(side["version"], side["configuration_sha256"]) for side in sides} == {
            (1, ours["configuration_sha256"])
        }
        assert all(len(each["turns"]) == 4 for each in held)

    async def test_stay_when_a_bot_is_suspended_activated_and_retired(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            team = await suite.client("bots", "team", team="us")
            out = await created(team, "/v1/bots", webhook(url))
            path = f"/v1/bots/{out['id']}"
            one: dict[str, Any] = {"contexts": [{"turns": []}]}
            assert (await team.patch(path, json={"status": "suspended"})).json()["status"] == "suspended"
            assert (await team.post(f"{path}/replies", json=one)).status_code == 409
            assert (await team.patch(path, json={"status": "active"})).json()["status"] == "probing"
            async with asyncio.timeout(20):
                while (await team.get(path)).json()["status"] != "active":
                    await asyncio.sleep(0.05)
            changed = await team.patch(path, json={"description": "Better.", "limits": {"concurrency": 2}})
            assert (changed.json()["description"], changed.json()["limits"]["concurrency"]) == ("Better.", 2)
            assert changed.json()["version"] == 1
            assert (await team.patch(path, json={"status": "failing"})).status_code == 422
            assert (await team.patch(path, json={"status": "retired"})).json()["status"] == "retired"
            assert (await team.patch(path, json={"status": "active"})).status_code == 409
            assert (await team.post(f"{path}/versions", json={"protocol": out["protocol"]})).status_code == 409


class TestSecrets:
    async def test_are_encrypted_and_never_come_back(self, suite: RunningSuite, capfd: Any):
        api_key = "sk-very-secret-indeed-0123456789"
        async with bot(lambda _: {"choices": [{"message": {"content": "Hello there."}}]}) as (served, url):
            admin = await suite.client("bots", "admin")
            protocol = {"kind": "openai", "base_url": f"{url}/v1", "model": "m"}
            body = webhook("") | {"protocol": protocol, "secret": api_key}
            answer = await admin.post("/v1/bots", json=body, headers={"Idempotency-Key": "once"})
            path = f"/v1/bots/{answer.json()['id']}"
            texts = [answer.text, (await admin.get(path)).text, (await admin.get(f"{path}/versions")).text]
            texts.append((await admin.get(f"{path}/probes")).text)
            assert {headers.get("authorization") for headers in served.headers} == {f"Bearer {api_key}"}
            renewed = await admin.put(f"{path}/secret", json={"secret": "sk-renewed"})
            assert (renewed.json()["version"], renewed.json()["has_secret"]) == (1, True)
            await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["Hi."]}]})
            assert served.headers[-1]["authorization"] == "Bearer sk-renewed"
        with psycopg.connect(suite.database.owner["bots"]) as connection:
            for table in ("bots", "bot_versions", "probes", "idempotency_keys"):
                rows = sql.SQL("SELECT t::text FROM bots.{} t").format(sql.Identifier(table))
                texts += [row[0] for row in connection.execute(rows)]
        out, err = capfd.readouterr()
        assert not [text for text in (*texts, out, err) if api_key in text or "sk-renewed" in text]
        assert not [text for text in texts if api_key.encode().hex() in text]

    async def test_a_secret_that_another_process_replaced_is_used_from_the_next_reply(self, suite: RunningSuite):
        async with bot(lambda _: {"choices": [{"message": {"content": "Hello there."}}]}) as (served, url):
            admin = await suite.client("bots", "admin")
            protocol = {"kind": "openai", "base_url": f"{url}/v1", "model": "m"}
            out = await created(admin, "/v1/bots", webhook("") | {"protocol": protocol, "secret": "sk-first"})
            path, one = f"/v1/bots/{out['id']}/replies", {"contexts": [{"turns": ["Hi."]}]}
            await admin.post(path, json=one)
            with psycopg.connect(suite.database.owner["bots"]) as connection:
                connection.execute(
                    "UPDATE bots.bot_versions SET sealed_secret = %s WHERE bot_id = %s",
                    (suite.apps["bots"].state.resources.speakers.vault.seal("sk-second"), out["id"]),
                )
            await admin.post(path, json=one)
            assert [each["authorization"] for each in served.headers[-2:]] == ["Bearer sk-first", "Bearer sk-second"]

    async def test_are_not_repeated_in_the_answer_to_a_wrong_request(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        body = webhook("http://127.0.0.1:9/", secret="whsec_wrong-but-still-secret")
        answer = await admin.post("/v1/bots", json=body)
        assert (answer.status_code, "still-secret" in answer.text) == (422, False)
        answer = await admin.post("/v1/bots", json=body | {"secret": ["still-secret"]})
        assert (answer.status_code, "still-secret" in answer.text) == (422, False)

    async def test_are_refused_for_a_protocol_without_secrets(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        body = webhook("") | {"protocol": {"kind": "builtin", "model": "eliza"}, "secret": "x"}
        answer = await admin.post("/v1/bots", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/secret")


class TestOwners:
    async def test_see_and_change_only_their_own_bots(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            ours = await suite.client("bots", "team", team="us")
            theirs = await suite.client("bots", "team", team="them")
            path = f"/v1/bots/{(await created(ours, '/v1/bots', webhook(url)))['id']}"
            answers = [
                await theirs.get(path),
                await theirs.get(f"{path}/versions"),
                await theirs.get(f"{path}/probes"),
                await theirs.post(f"{path}/probes"),
                await theirs.patch(path, json={"status": "retired"}),
                await theirs.post(f"{path}/versions", json={"protocol": {"kind": "builtin", "model": "dull"}}),
                await theirs.put(f"{path}/secret", json={"secret": SECRET}),
                await theirs.post(f"{path}/replies", json={"contexts": [{"turns": []}]}),
            ]
        assert [answer.status_code for answer in answers] == [404] * len(answers)

    async def test_may_run_a_limited_number_of_probes_at_a_time(self, database_urls: DatabaseUrls):
        async def slowly(question: dict[str, Any]) -> dict[str, str]:
            await asyncio.sleep(0.05)
            return well_behaved(question)

        async with (
            run_suite(database_urls, bots=bots_settings() | {"probes_per_team": 2}) as suite,
            bot(slowly) as (_, url),
        ):
            team = await suite.client("bots", "team", team="us")
            path = f"/v1/bots/{(await created(team, '/v1/bots', webhook(url)))['id']}/probes"
            answers = await asyncio.gather(*(team.post(path) for _ in range(5)))
            statuses = sorted(answer.status_code for answer in answers)
            assert statuses == [200, 200, 429, 429, 429]
            refused = next(answer for answer in answers if answer.status_code == 429)
            assert (refused.headers["Retry-After"], "2 probes" in json.loads(refused.text)["detail"]) == ("5", True)
