"""Teams on the pages: what is another team's is not there, whatever is asked or sent; and no bot leads inwards."""

import asyncio
import re
from typing import Any
from uuid import UUID

import pytest

from tests.factories.bot_servers import raw_server, read_request
from tests.factories.campaigns import labelled_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots

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
            assert page.count("Nothing changed since the version before") == 1
            assert page.count("The configuration is that of version 1.") == 1
            assert "model: <del><bdi>eliza</bdi></del> → <ins><bdi>dull</bdi></ins>" in page
            gone = await us.post(f"/bots/{bot}/delete")
            assert (gone.status_code, gone.headers["location"]) == (303, "/bots")
            assert (await us.get(f"/bots/{bot}")).status_code == 404


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
