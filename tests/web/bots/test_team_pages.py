"""Teams on the pages: what is another team's is not there, whatever is asked or sent; and no bot leads inwards."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from tests.factories.bot_servers import raw_server, read_request
from tests.factories.campaigns import labelled_campaign, released_campaign
from tests.factories.exported import exported
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, register_bots

UNTOUCHED = ("description", "domains", "version", "protocol", "has_secret")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


class TestVersions:
    async def test_show_what_each_changed_and_a_mistaken_bot_is_deleted(self, suite: RunningSuite):
        bots = await suite.client("bots", "team", team="us")
        body = {"name": "mine", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}
        bot = (await bots.post("/v1/bots", json=body)).json()["id"]
        for model in ("dull", "dull", "eliza"):
            added = await bots.post(f"/v1/bots/{bot}/versions", json={"protocol": {"kind": "builtin", "model": model}})
            assert added.status_code == 201, added.text
        async with signed_in(suite, "team", team="us") as us:
            page = (await us.get(f"/bots/{bot}")).text
            assert page.count("The same configuration as the version before") == 1
            assert page.count("The configuration is that of version 1.") == 1
            assert "model: <del><bdi>eliza</bdi></del> → <ins><bdi>dull</bdi></ins>" in page
            gone = await us.post(f"/bots/{bot}/delete")
            assert (gone.status_code, gone.headers["location"]) == (303, "/bots")
            assert (await us.get(f"/bots/{bot}")).status_code == 404

    async def test_are_compared_by_their_conversations_after_which_no_bot_is_deleted(self, suite: RunningSuite):
        bots = await suite.client("bots", "team", team="us")
        body = {"name": "mine", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}
        bot = await created(bots, "/v1/bots", body)
        again = {"protocol": {"kind": "builtin", "model": "dull"}}
        await created(bots, f"/v1/bots/{bot['id']}/versions", again)
        partner = Participant(kind=ParticipantKind.BOT, name="partner")
        rows = []
        for number, version in enumerate((1, 2, 2)):
            side = Participant(kind=ParticipantKind.BOT, name="mine", bot_id=UUID(bot["id"]), version=version)
            changed = {"participants": (side, partner), "bots": ("mine", "partner")}
            rows.append(exported(number).model_copy(update=changed))
        admin = await suite.client("conversations", "admin")
        held = await created(admin, "/v1/collections", {"mode": "import", "name": "held", "domain": "everyday"})
        content = "".join(f"{each.model_dump_json()}\n" for each in rows)
        assert (await admin.post(f"/v1/collections/{held['id']}/uploads", content=content)).json()["stored"] == 3
        async with signed_in(suite, "team", team="us") as us:
            page = " ".join(re.sub(r"<[^>]+>", " ", (await us.get(f"/bots/{bot['id']}")).text).split())
            assert "version 2 2 0 0" in page
            assert "version 1 1 0 0" in page
            talks = (await us.get(f"/bots/{bot['id']}/conversations")).text
            assert f'<span class="soft said" dir="auto"><bdi>mine</bdi>: {rows[0].turns[0].text}</span>' in talks
            assert talks.count('<span class="soft who"><bdi>mine</bdi></span>') == sum(
                turn.speaker == "A" for row in rows for turn in row.turns
            )
            assert f"{datetime.now(UTC):%Y-%m-%d}" in talks
            refused = await us.post(f"/bots/{bot['id']}/delete")
            assert (refused.status_code, "Nothing was changed." in refused.text) == (422, True)
            assert "see below" not in refused.text


class TestStandings:
    async def test_say_that_all_annotators_are_programs(self, suite: RunningSuite):
        await released_campaign(suite, await register_bots(suite), annotators=["simulated-1"])
        async with signed_in(suite, "team", team="us") as us:
            assert "All annotators are programs: what they say" in (await us.get("/bots/standings")).text


class TestChanges:
    async def test_are_confirmed_and_each_fault_stands_above_the_form_with_its_remedy(self, suite: RunningSuite):
        bots = await suite.client("bots", "team", team="us")
        secret = "whsec_" + "TWZLUTlyOEdLWXFyVHdqVVBEOElMUFpJbzJMYUxhU3c="
        body = {
            "name": "mine",
            "domains": ["everyday"],
            "protocol": {"kind": "webhook", "url": "https://bot.example.org/reply"},
            "secret": secret,
        }
        here = f"/bots/{(await created(bots, '/v1/bots?probe=false', body))['id']}"
        async with signed_in(suite, "team", team="us") as us:
            for path, typed, said in (
                ("settings", {"domains": "everyday", "limits.concurrency": "3"}, "Saved."),
                ("secret", {"secret": secret}, "The secret was replaced"),
            ):
                saved = await us.post(f"{here}/{path}", data=typed)
                assert saved.status_code == 303, saved.text
                assert said in (await us.get(saved.headers["location"])).text
            wrong = await us.post(f"{here}/secret", data={"secret": "hello"})
            assert '<li><a href="#own-secret">New secret</a>: <span lang="en">A webhook' in wrong.text
            inner = {"kind": "webhook", "name": "x", "domains": "everyday", "webhook.url": "http://10.1.2.3/reply"}
            refused = (await us.post("/bots/new", data=inner)).text
            assert '<li><a href="#webhook-url">Address</a>: ' in refused
            assert refused.count("It has to be at a public address") == 2  # above the form and at the field
            assert "Version 1 has a secret" in (await us.get(f"{here}/versions/new")).text
            await us.post(f"{here}/status", data={"status": "suspended"})
            page = (await us.get(here)).text
            assert 'value="active">Resume</button>' in page
            assert "Not public: others see a pseudonym" in page
            assert "3 questions at the same time" in page
            assert "with a secret" in page
            assert f'"model": "{here.removeprefix("/bots/")}"' in page


class TestOtherTeams:
    async def test_find_nothing_of_a_bot_and_change_nothing(self, suite: RunningSuite):
        ours = (await register_bots(suite))["ours"]
        owner = await suite.client("bots", "team", team="us")
        before = (await owner.get(f"/v1/bots/{ours}")).json()
        async with signed_in(suite, "team", team="them") as them:
            pages = [await them.get(f"/bots/{ours}{below}") for below in ("", "/settings", "/versions/new")]
            pages.append(await them.get(f"/bots/{ours}/conversations"))
            sent = [
                await them.post(f"/bots/{ours}/probe"),
                await them.post(f"/bots/{ours}/status", data={"status": "retired"}),
                await them.post(f"/bots/{ours}/delete"),
                await them.post(f"/bots/{ours}/settings", data={"domains": "everyday", "description": "mine now"}),
                await them.post(f"/bots/{ours}/secret", data={"secret": "whsec_" + "TWZLUTlyOEdLWXFyVHdqVVBEOElMUFpJ"}),
                await them.post(
                    f"/bots/{ours}/versions/new", data={"kind": "webhook", "webhook.url": "https://bot.example.org/"}
                ),
            ]
        assert {(each.status_code, "ours" in each.text) for each in (*pages, *sent)} == {(404, False)}
        after = (await owner.get(f"/v1/bots/{ours}")).json()
        assert {name: after[name] for name in UNTOUCHED} == {name: before[name] for name in UNTOUCHED}
        assert after["status"] in {"probing", "active"}  # by the suite's own probe

    async def test_read_no_collection_conversation_or_campaign(self, suite: RunningSuite):
        campaign = UUID((await labelled_campaign(suite, await register_bots(suite))).rpartition("/")[2])
        admin = await suite.conversations("admin")
        (collection,) = (await admin.list_collections().page()).items
        held = (await admin.list_conversations(collection.id).page()).items[0]
        async with signed_in(suite, "team", team="us") as team:
            refused = {
                path: (await team.get(path)).status_code
                for path in (
                    "/conversations",
                    f"/conversations/{collection.id}",
                    f"/conversations/{collection.id}/{held.id}",
                    f"/conversations/{collection.id}/ratings",
                    f"/campaigns/{campaign}",
                    f"/campaigns/{campaign}/parts/ranking",
                    f"/campaigns/{campaign}/data/ranking.csv",
                    f"/campaigns/{campaign}/figures/ranking.svg",
                    f"/chats/{collection.id}/links",
                    f"/admin/campaigns/{campaign}/export/annotations.csv",
                    f"/admin/collections/{collection.id}",
                )
            }
            assert set(refused.values()) == {403}, refused
            assert (await team.post(f"/campaigns/{campaign}/stability")).status_code == 403


class TestRegistering:
    async def test_a_bot_that_redirects_inwards_is_not_followed(self, suite: RunningSuite):
        reached = []

        async def inside(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            reached.append("inside")

        async with raw_server(inside) as secret:

            async def redirects(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await read_request(reader)
                writer.write(f"HTTP/1.1 307 T\r\nLocation: {secret}/\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()

            async with raw_server(redirects) as url, signed_in(suite, "team", team="us") as team:
                form = {"kind": "webhook", "name": "sly", "domains": "everyday", "webhook.url": f"{url}/reply"}
                registered = await team.post("/bots/new", data=form)
                assert registered.status_code == 303, registered.text
                page = registered.headers["location"]
                assert (await team.post(f"{page}/probe")).headers["location"] == page
                report = re.sub(r"<[^>]+>", " ", (await team.get(page)).text)
        assert reached == []
        assert "redirects are not followed" in report


class TestSigningIn:
    @pytest.mark.parametrize(
        ("role", "claimed"), [("analyst", "admin"), ("annotation", "analyst"), ("team", "analyst")]
    )
    async def test_a_key_opens_no_pages_of_a_role_that_it_only_claims(
        self, suite: RunningSuite, role: str, claimed: str
    ):
        more: dict[str, Any] = {"team": "us"} if role == "team" else {}
        key = (await suite.keys.make(role, **more)).replace(f"stb_{role}_", f"stb_{claimed}_", 1)
        web = await suite.client("web", "analyst")
        answer = await web.post("/sign-in", data={"key": key})
        assert answer.status_code == 422
        assert "set-cookie" not in answer.headers
