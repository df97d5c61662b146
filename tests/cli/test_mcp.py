"""The services as tools of a model client: the SDK's own client over standard input and output and over HTTP."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from spotthebot.cli.mcp import server
from spotthebot.cli.mcp.server import Tools, http_app
from spotthebot.contracts.services import API_NAMES
from spotthebot.kit.processes.sockets import bind
from tests.factories.command_line import run_stb
from tests.factories.one_address import one_address
from tests.factories.running_suite import RunningSuite, serve_all
from tests.factories.studies import until

OURS = {"name": "ours", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}


@asynccontextmanager
async def over_http(suite: RunningSuite, *only: str) -> AsyncIterator[str]:
    """Serve the tools as `./stb mcp --http` does; yield the address."""
    with closing(bind("127.0.0.1", 0)) as sock:
        async with Tools.of({name: suite.urls[name] for name in API_NAMES}, only) as tools:
            config = uvicorn.Config(http_app(tools), log_config=None)
            async with serve_all([(config, sock)]):
                yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"


@asynccontextmanager
async def client_of(address: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """Return the answer of a tool; an error is its text."""
    found = await client.call_tool(name, arguments)
    (content,) = found.content
    text = getattr(content, "text", "")
    return text if found.is_error or not text.startswith("{") else json.loads(text)


class TestOverHttp:
    async def test_a_caller_may_do_what_its_role_may_and_no_more(self, suite: RunningSuite):
        admin, team, other = [
            await suite.keys.make(role, team=of) for role, of in (("admin", None), ("team", "acme"), ("team", "other"))
        ]
        async with over_http(suite) as address, client_of(address, admin) as operator, client_of(address, team) as acme:
            tools, own = [{each.name for each in (await of.list_tools()).tools} for of in (operator, acme)]
            assert len(own) < len(tools) / 2
            assert {"register_bot", "create_collection", "create_campaign", "ranking"} <= tools
            assert "register_bot" in own
            assert not {"create_collection", "create_campaign", "import_annotations"} & own
            assert "healthz" not in str(tools)
            # A tool that is not listed is refused by the service itself, with what it says.
            refused = await call(acme, "create_collection", body={})
            assert refused.startswith("403: ")
            assert "role" in refused
            bot = await call(acme, "register_bot", probe=False, body=OURS)
            assert bot["name"] == "ours"
            async with client_of(address, other) as stranger:
                assert (await call(stranger, "get_bot", bot_id=bot["id"])).startswith("404: ")

    async def test_faults_say_what_to_do(self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch):
        key = await suite.keys.make("admin")
        async with over_http(suite, "get_*", "list_*") as address, client_of(address, key) as client:
            assert all(each.name.startswith(("get_", "list_")) for each in (await client.list_tools()).tools)
            assert await call(client, "register_bot") == "There is no tool register_bot."
            assert await call(client, "get_bot") == "The call needs bot_id."
            assert (await call(client, "get_bot", bot_id="../collections")).startswith("404: ")
            assert (await call(client, "list_bots", limit=10_000)).startswith("422: ")
            monkeypatch.setattr(server, "_LONGEST_ANSWER", 20)
            assert "ask for less, with limit or a filter" in await call(client, "list_bots")

    async def test_requests_without_a_key_or_of_another_site_are_refused(self, suite: RunningSuite):
        call_of = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        key = {"Authorization": f"Bearer {await suite.keys.make('admin')}"}
        async with over_http(suite, "list_bots") as address, httpx.AsyncClient() as http:
            for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eA=="}):
                assert (await http.post(address, json=call_of, headers=headers)).status_code == 401
            rebound = await http.post(address, json=call_of, headers={**key, "Host": "evil.example"})
            assert rebound.status_code == 421
            foreign = await http.post(address, json=call_of, headers={**key, "Origin": "https://evil.example"})
            assert foreign.status_code == 403
        # A key that nobody made lists tools, as the documents are public, and gets nothing else.
        unknown = f"stb_admin_{'0' * 32}_{'x' * 43}"
        async with over_http(suite, "list_bots") as address, client_of(address, unknown) as client:
            assert (await call(client, "list_bots")).startswith("401: ")


def test_over_http_no_key_is_needed_at_the_start(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPOTTHEBOT_URL", "http://127.0.0.1:9")
    started = run_stb("mcp", "--http", "1")
    assert (started.returncode, "did not say what it offers" in started.stderr) == (1, True), started.stderr


class TestFromABotToARanking:
    async def test_takes_at_most_twelve_calls(self, suite: RunningSuite, tmp_path: Path):
        """What llms.txt says, over standard input and output: the command itself, as a model client starts it."""
        async with one_address(suite) as url:
            command = StdioServerParameters(
                command=sys.executable,
                args=["-m", "spotthebot.cli", "mcp", "--only", "*", "--only", "list_standings"],
                env={**os.environ, "SPOTTHEBOT_URL": url, "SPOTTHEBOT_KEY": await suite.keys.make("admin")},
            )
            with (tmp_path / "said").open("w") as said:
                async with Client(stdio_client(command, errlog=said)) as client:
                    calls = _Counted(client)
                    ranking = await self._rank(calls, suite)
        assert "--only list_standings: your key's role has no such tool." in (tmp_path / "said").read_text()
        assert len(calls.made) <= 12, calls.made
        assert ranking["ranking"]["bots"][0]["bot"] == "eliza"
        assert ranking["counts"]["simulated_annotators"] == 4

    async def _rank(self, calls: "_Counted", suite: RunningSuite) -> Any:
        bots = [
            await calls("register_bot", body={**OURS, "name": name, "protocol": {"kind": "builtin", "model": name}})
            for name in ("eliza", "parrot")
        ]
        plan = {"mode": "all_play_all", "name": "first", "domain": "everyday", "exchanges": 3}
        collection = await calls(
            "create_collection", body={**plan, "bots": [each["id"] for each in bots], "conversations_per_pair": 4}
        )
        await until(await suite.client("conversations", "admin"), f"/v1/collections/{collection['id']}", "complete")
        assert (await calls("get_collection", collection_id=collection["id"]))["complete"] == 4
        said = (await calls("list_conversations", collection_id=collection["id"]))["items"]
        campaign = await calls(
            "create_campaign",
            body={
                "name": "first",
                "domain": "everyday",
                "mode": "import",
                "protocol": "spot_the_bot_labels",
                "collection_id": collection["id"],
                "segments": [3],
            },
        )
        await until(await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}", "open")
        packages = [_package(each["id"]) for each in said]
        await calls("import_packages", campaign_id=campaign["id"], body={"packages": packages})
        annotations = [_labelled(each, who) for each in said for who in range(4)]
        await calls("import_annotations", campaign_id=campaign["id"], body={"annotations": annotations})
        return await calls("ranking", campaign_id=campaign["id"])


class _Counted:
    """Calls tools and counts the calls; an error fails the test."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.made: list[str] = []

    async def __call__(self, name: str, **arguments: Any) -> Any:
        self.made.append(name)
        found = await call(self._client, name, **arguments)
        assert not isinstance(found, str), (name, found)
        return found


def _package(conversation: str) -> dict[str, Any]:
    return {"external_id": conversation, "segments": [{"conversation": conversation, "exchanges": 3}]}


def _labelled(conversation: dict[str, Any], who: int) -> dict[str, Any]:
    """Return what a simulated annotator says, who always takes eliza for a person."""
    now = datetime.now(UTC).isoformat()
    names = [each["name"] for each in conversation["participants"]]
    return {
        "external_id": f"{conversation['id']}-{who}",
        "package": conversation["id"],
        "conversation": conversation["id"],
        "exchanges": 3,
        "annotator": f"program-{who}",
        "annotator_kind": "simulated",
        "answer": {
            "entity": {side: "human" if name == "eliza" else "bot" for side, name in zip("AB", names, strict=True)}
        },
        "started_at": now,
        "ended_at": now,
        "elapsed_ms": 1000,
    }
