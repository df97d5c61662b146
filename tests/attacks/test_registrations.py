"""What a team's key can make the services call, on one machine and on others."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.local_settings import LocalSettings, local_settings
from tests.attacks.hostile_names import PUBLIC, REBINDING, HostileNetwork, hostile_network
from tests.attacks.test_addresses import FORMS, PROTOCOLS
from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.databases import Databases
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import created

SECRET_WORDS = "internal: the password is swordfish"


def settings_of(local: LocalSettings, service: str) -> dict[str, Any]:
    """Return the settings that a service reads from the environment that `./stb up` gives it."""
    prefix = f"SPOTTHEBOT_{service.upper()}_"
    return {
        name.removeprefix(prefix).lower(): value for name, value in local.environment.items() if name.startswith(prefix)
    }


@pytest.fixture(scope="module")
async def module_suite(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningSuite]:
    """Services with the settings of `./stb up`, without a flag."""
    folder = DataFolder(tmp_path_factory.mktemp("data"))
    with databases.lend() as urls, local_settings(folder) as local:
        networks = {
            service: {
                name: json.loads(value)
                for name, value in settings_of(local, service).items()
                if name.endswith("_networks")
            }
            for service in ("bots", "conversations")
        }
        async with run_suite(urls, only=("bots", "conversations"), **networks) as running:
            yield running


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, suite: RunningSuite) -> Iterator[HostileNetwork]:
    with hostile_network(monkeypatch) as made:
        made.open_to |= {("127.0.0.1", httpx.URL(url).port or 80) for url in suite.urls.values()}
        yield made


def _leaky(_question: dict[str, Any]) -> tuple[int, dict[str, str]]:
    return 500, {"error": SECRET_WORDS}


_CALLED = [name for name in PROTOCOLS if "triton" not in name]


class TestForms:
    """Each form of an address with one protocol, so each protocol with some: `test_addresses` has all of both."""

    @pytest.mark.parametrize("name", _CALLED)
    async def test_forbidden_addresses_are_refused_to_a_team(
        self, suite: RunningSuite, network: HostileNetwork, name: str
    ):
        _, field, fields, scheme = PROTOCOLS[name]
        team = await suite.client("bots", "team", team="us")
        mine = webhook("") | {"name": "eliza", "protocol": {"kind": "builtin", "model": "eliza"}}
        versions = f"/v1/bots/{(await created(team, '/v1/bots', mine))['id']}/versions"
        for form in FORMS[_CALLED.index(name) :: len(_CALLED)]:
            protocol = fields | {field: f"{scheme}://{form}/"}
            for path, body in (("/v1/bots", webhook("") | {"protocol": protocol}), (versions, {"protocol": protocol})):
                answer = await team.post(path, json=body)
                assert answer.status_code == 422, (form, answer.text)
                assert f"/protocol/{field}" in {fault["pointer"] for fault in answer.json()["errors"]}, form
        assert network.dialled == []

    async def test_forbidden_addresses_are_refused_to_subscribers(self, suite: RunningSuite, network: HostileNetwork):
        team = await suite.client("conversations", "team", team="us")
        for form in FORMS:
            for scheme in ("http", "https"):
                subscription = {"url": f"{scheme}://{form}/", "events": ["bot.failing"]}
                answer = await team.post("/v1/subscriptions", json=subscription)
                assert answer.status_code == 422, (form, answer.text)
                assert "/url" in {fault["pointer"] for fault in answer.json()["errors"]}, form
        assert network.dialled == []

    async def test_a_name_whose_answer_changes_is_never_called(self, suite: RunningSuite, network: HostileNetwork):
        team = await suite.client("bots", "team", team="us")
        for number, (name, (_, field, fields, scheme)) in enumerate(PROTOCOLS.items()):
            if "triton" in name:
                continue
            host = f"{number}.{REBINDING}"  # its own: heartbeats ask for the names of the bots before it
            network.answers[host] = [[PUBLIC], ["127.0.0.1"]]
            protocol = fields | {field: f"{scheme}://{host}/"}
            out = await created(team, "/v1/bots", webhook("") | {"name": f"bot {number}", "protocol": protocol})
            assert out["status"] == "failing"
            assert "may not be called" in out["status_reason"]
        assert network.dialled == []


class TestOneMachine:
    async def test_lets_no_team_call_it(self, suite: RunningSuite):
        async with bot(_leaky) as (internal, url):
            team = await suite.client("bots", "team", team="us")
            answer = await team.post("/v1/bots", json=webhook(url))
            assert (answer.status_code, answer.json()["type"]) == (422, "urn:spotthebot:problem:address-not-allowed")
            subscriber = await suite.client("conversations", "team", team="us")
            answer = await subscriber.post("/v1/subscriptions", json={"url": url, "events": ["bot.failing"]})
            assert answer.status_code == 422
        assert SECRET_WORDS not in answer.text
        assert internal.asked == []

    async def test_lets_no_version_of_a_teams_bot_call_it_whoever_adds_it(self, suite: RunningSuite):
        team, admin = await suite.client("bots", "team", team="us"), await suite.client("bots", "admin")
        mine = webhook("") | {"protocol": {"kind": "builtin", "model": "eliza"}}
        versions = f"/v1/bots/{(await created(team, '/v1/bots', mine))['id']}/versions"
        async with bot(well_behaved) as (internal, url):
            answer = await admin.post(versions, json={"protocol": {"kind": "webhook", "url": url}})
        assert answer.status_code == 422
        assert internal.asked == []

    async def test_lets_the_operator_register_bots_and_subscribers_on_it(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            assert out["status"] == "active"
            events = {"url": url, "events": ["bot.failing"]}
            await created(await suite.client("conversations", "admin"), "/v1/subscriptions", events)

    async def test_lets_no_team_see_or_ask_what_the_operator_registered(self, suite: RunningSuite):
        async with bot(well_behaved) as (local, url):
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            asked = len(local.asked)
            team = await suite.client("bots", "team", team="us")
            answer = await team.post(f"/v1/bots/{out['id']}/replies", json={"contexts": [{"turns": ["Hello!"]}]})
        assert answer.status_code == 404
        assert len(local.asked) == asked

    async def test_lends_a_team_no_connection_that_the_operator_opened(self, suite: RunningSuite):
        """A connection that is kept open is asked again without another look at its address."""
        async with bot(well_behaved) as (local, url):
            await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            asked = len(local.asked)
            context = suite.apps["bots"].state.resources
            with pytest.raises(Exception, match="may not be called"):
                await context.speakers.http_of("us").post(url, b"{}", {})
        assert len(local.asked) == asked


class TestTritonByUrl:
    @pytest.mark.parametrize("transport", ["grpc", "http"])
    async def test_is_for_administrators_as_hosted_models_are(self, suite: RunningSuite, transport: str):
        async with bot(well_behaved) as (server, url):
            protocol = {"kind": "triton", "url": url, "model": "gpt", "transport": transport}
            team = await suite.client("bots", "team", team="us")
            answer = await team.post("/v1/bots", json=webhook("") | {"protocol": protocol})
        assert (answer.status_code, answer.json()["type"]) == (
            403,
            "urn:spotthebot:problem:hosting-is-for-administrators",
        )
        assert server.asked == []


class TestAllowLocalBots:
    @pytest.mark.parametrize("allowed", [False, True])
    def test_opens_this_machine_to_teams(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool):
        for service in ("BOTS", "CONVERSATIONS"):
            monkeypatch.delenv(f"SPOTTHEBOT_{service}_ALLOWED_NETWORKS", raising=False)
        with local_settings(DataFolder(tmp_path), allow_local_bots=allowed) as local:
            for service in ("bots", "conversations"):
                found = settings_of(local, service)
                assert found["allowed_networks"] == ('["127.0.0.0/8", "::1/128"]' if allowed else "[]")
                assert found["operator_networks"] == '["127.0.0.0/8", "::1/128"]'
            assert local.local_bots is not None
            assert local.local_bots.startswith("any key" if allowed else "a key of the role admin")
