"""Commands that list, show and change what services keep, on services that run elsewhere."""

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

import pytest

from spotthebot.local.errors import AddressNotUsable, KeyNotSecret, NotAKey
from spotthebot.local.runtime.addresses import remote_at
from tests.factories.bot_servers import never_answers, raw_server, webhook
from tests.factories.campaigns import open_campaign
from tests.factories.chat_studies import import_chats
from tests.factories.command_line import Printed, run_stb
from tests.factories.one_address import one_address
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import QUALITY_CHECKS, RunningSuite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations, plan, until

KEY = f"stb_admin_{'0' * 32}_{'s' * 43}"
NOBODY = "00000000-0000-7000-8000-000000000000"
Stb = Callable[..., Awaitable[Printed]]


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": QUALITY_CHECKS}  # `collect` waits for them for a minute


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "bots", "fed"),
        [
            ("https://stb.example.org", "https://stb.example.org/bots", "https://stb.example.org/fed"),
            ("https://example.org/stb/", "https://example.org/stb/bots", "https://example.org/stb/fed"),
            ("https://{service}.example.org/", "https://bots.example.org", "https://fed.example.org"),
            ("http://127.0.0.1:{port}", "http://127.0.0.1:8101", "http://127.0.0.1:8105"),
            ("http://[::1]:9000", "http://[::1]:9000/bots", "http://[::1]:9000/fed"),
            ("http://localhost:9000", "http://localhost:9000/bots", "http://localhost:9000/fed"),
        ],
    )
    def test_stands_for_those_of_all_services(self, url: str, bots: str, fed: str):
        remote = remote_at(url, KEY)
        assert (remote.urls["bots"], remote.urls["fed"], len(remote.urls)) == (bots, fed, 5)
        assert KEY not in repr(remote)

    @pytest.mark.parametrize("is_proxy", [False, True])
    def test_where_the_pages_answer_is_a_proxy_if_services_have_paths_there(self, is_proxy: bool):
        """Without one, the ports of the other services are near: `bots` has the fifth before that of `web`."""
        titles = {"/openapi.json": "Spot The Bot web"} | (
            {"/bots/openapi.json": "Spot The Bot bots"} if is_proxy else {}
        )

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path in titles else 404)
                self.end_headers()
                self.wfile.write(json.dumps({"info": {"title": titles.get(self.path)}}).encode())

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        with HTTPServer(("127.0.0.1", 0), Answers) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            port = server.server_port
            bots = remote_at(f"http://127.0.0.1:{port}", KEY).urls["bots"]
            server.shutdown()
        assert bots == f"http://127.0.0.1:{f'{port}/bots' if is_proxy else port - 5}"

    @pytest.mark.parametrize(
        "url",
        [
            "stb.example.org",
            "ftp://stb.example.org",
            "https://",
            "https://user:hidden@stb.example.org",
            "https://stb.example.org?key=hidden",
            "https://stb.example.org#hidden",
            "https://stb.example.org:99999",
            "https://stb example.org",
            "",
        ],
    )
    def test_is_refused_where_it_is_none_without_its_secrets(self, url: str):
        with pytest.raises(AddressNotUsable) as raised:
            remote_at(url, KEY)
        assert not re.search(f"hidden|{KEY}", str(raised.value))

    @pytest.mark.parametrize("host", ["stb.example.org", "10.0.0.1", "127.0.0.1.example.org", "[fd00::1]"])
    def test_is_https_on_another_machine_unless_http_is_allowed(self, host: str):
        with pytest.raises(KeyNotSecret):
            remote_at(f"http://{host}", KEY)
        assert remote_at(f"http://{host}", KEY, allow_http=True).urls["bots"] == f"http://{host}/bots"
        assert remote_at(f"https://{host}", KEY).urls["bots"] == f"https://{host}/bots"

    @pytest.mark.parametrize("key", ["", "secret", f"{KEY}\nHost: evil", f"{KEY} ", KEY[:-1]])
    def test_takes_an_api_key_alone_and_shows_none(self, key: str):
        with pytest.raises(NotAKey) as raised:
            remote_at("https://stb.example.org", key)
        assert not key or key not in str(raised.value)


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "environment", "said"),
        [
            (("bots", "list", "--url", "https://a.example"), {}, "set SPOTTHEBOT_KEY to it"),
            (("mcp",), {"SPOTTHEBOT_URL": "https://a.example"}, "Services at an address need an API key"),
            (("rank", "x", "--key", KEY), {}, "your API key belongs elsewhere"),
            (("collect",), {"SPOTTHEBOT_KEY": KEY}, "your API key belongs elsewhere"),
            (("demo",), {"SPOTTHEBOT_KEY": "hidden"}, "not an API key"),
            (("demo", "--port-base", "9900"), {}, "--port-base"),
            (("rank", "x", "--url", "https://a.example", "--data-dir", "d"), {}, "--url or --data-dir, not both"),
            (("rank", "x", "--url", "http://a.example"), {"SPOTTHEBOT_KEY": KEY}, "--allow-http"),
            (("rank", "x"), {"SPOTTHEBOT_KEY": "hidden", "SPOTTHEBOT_URL": "https://a.example"}, "not an API key"),
            (("up", "--url", "https://a.example"), {}, "'./stb up' works only on the machine of the suite"),
            (("demo", "--url", "https://a.example"), {"SPOTTHEBOT_KEY": KEY}, "set SPOTTHEBOT_FRONTEND_KEY to it"),
            (
                ("demo", "--keep", "--url", "https://a.example"),
                {"SPOTTHEBOT_KEY": KEY},
                "--keep is for a suite on this",
            ),
            (
                ("keys", "list", "--key", KEY),
                {},
                "leave out --url and --key, since no service may write API keys: one that leaks makes",
            ),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_is_refused_in_a_sentence_without_the_key(
        self,
        arguments: tuple[str, ...],
        environment: dict[str, str],
        said: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ):
        for name, value in {"SPOTTHEBOT_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "200", **environment}.items():
            monkeypatch.setenv(name, value)
        printed = run_stb(*arguments)
        assert printed.returncode == 2
        assert said in " ".join(printed.stderr.split())
        assert not re.search(f"hidden|{KEY}", printed.stdout + printed.stderr)
        assert not (tmp_path / "data").exists()

    def test_says_where_an_address_in_the_environment_does_not_count(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("SPOTTHEBOT_URL", "https://a.example")
        monkeypatch.setenv("SPOTTHEBOT_KEY", KEY)
        here = run_stb("bots", "list", "--data-dir", tmp_path / "data")
        assert (
            here.returncode,
            "holds no suite that you can read" in " ".join(here.stderr.replace("│", " ").split()),
        ) == (2, True)
        elsewhere = run_stb("status", "--data-dir", tmp_path).stderr
        assert "SPOTTHEBOT_URL does not count: './stb status'" in elsewhere
        assert "SPOTTHEBOT_KEY does not count: './stb status'" in elsewhere


@pytest.fixture
async def address(suite: RunningSuite) -> AsyncIterator[str]:
    async with one_address(suite) as url:
        yield url


@pytest.fixture
async def stb(suite: RunningSuite, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    """Run a command with a key: an administrator's, or a team's. None makes a data folder, or shows its key."""
    keys = {None: await suite.keys.make("admin"), "acme": await suite.keys.make("team", team="acme")}
    monkeypatch.setenv("SPOTTHEBOT_URL", address)
    monkeypatch.setenv("SPOTTHEBOT_DATA_DIR", str(tmp_path / "data"))

    async def run(*arguments: str, team: str | None = None, columns: int = 80, answer: str = "") -> Printed:
        monkeypatch.setattr("spotthebot.cli.commands.resource_commands.is_interactive", lambda: bool(answer))
        monkeypatch.setenv("SPOTTHEBOT_KEY", keys[team])
        monkeypatch.setenv("COLUMNS", str(columns))
        with _typed(answer) as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            printed = await asyncio.to_thread(run_stb, *arguments)
        assert keys[team] not in printed.stdout + printed.stderr
        return printed

    yield run
    assert not (tmp_path / "data").exists()


def _typed(answer: str) -> TextIO:
    """Return what a person typed, as a terminal gives it."""
    readable, writable = os.pipe()
    os.write(writable, answer.encode())
    os.close(writable)
    return os.fdopen(readable)


def _ids(text: str) -> list[str]:
    return re.findall(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])", text)


class TestBots:
    async def test_are_registered_listed_shown_renewed_and_removed_by_their_team(self, stb: Stb, suite: RunningSuite):
        await add_bot(suite, "eliza", name="theirs")
        eliza = ("--protocol", "builtin", "--model", "eliza")
        made = await stb("bots", "register", "ours", *eliza, "--public", "--domain", "sports", team="acme")
        assert (made.returncode, "The bot can take part." in made.stdout) == (0, True), made.stderr
        (bot_id,) = _ids(made.stdout)
        listed = await stb("bots", "list", team="acme")
        assert _ids(listed.stdout) == [bot_id]
        assert max(map(len, listed.stdout.splitlines())) <= 80
        assert len(_ids((await stb("bots", "list")).stdout)) == 2
        shown = await stb("bots", "show", bot_id[:-3], "--json", team="acme")
        facts = json.loads(shown.stdout)
        assert (facts["name"], facts["team"], facts["domains"], facts["public"]) == ("ours", "acme", ["sports"], True)
        bad_domain = await stb("bots", "register", "more", *eliza, "--domain", "No Word", team="acme")
        assert (bad_domain.returncode, "domains" in bad_domain.stderr) == (2, True)
        unknown = await stb("bots", "show", "theirs", team="acme")
        assert unknown.stderr == "Error: There is no bot 'theirs': name one of ours, or register it first.\n"
        parrot = ("--protocol", "builtin", "--model", "parrot", "--next-version")
        assert (await stb("bots", "register", "ours", *parrot, team="acme")).returncode == 0
        back = await stb("bots", "register", "ours", *eliza, "--next-version", team="acme")
        assert "Version 3 has the configuration of version 1" in back.stderr
        versions = await stb("bots", "versions", "ours", team="acme")
        assert [line.split()[0] for line in versions.stdout.splitlines()] == ["Version", "1", "2", "3"]
        assert "builtin parrot" in versions.stdout.splitlines()[-2]
        unasked = await stb("bots", "remove", "ours", team="acme")
        assert (unasked.returncode, "there is no terminal to confirm it at: add --yes" in unasked.stderr) == (1, True)
        asked = await stb("bots", "remove", "ours", team="acme", answer="n\n")
        assert (asked.returncode, f"Bot ours ({bot_id}) will be asked nothing more" in asked.stderr) == (1, True)
        assert "The bot can take part." in (await stb("bots", "probe", "ours", team="acme")).stdout
        assert (await stb("bots", "remove", "ours", team="acme", answer="y\n")).returncode == 0
        assert (await stb("bots", "list", team="acme")).stdout == ""
        assert _ids((await stb("bots", "list", "--all", team="acme")).stdout) == [bot_id]

    async def test_show_a_team_the_conversations_of_its_own_without_their_partners(self, stb: Stb, suite: RunningSuite):
        team = await suite.client("bots", "team", team="acme")
        own = {"name": "ours", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "dull"}}
        ours = (await created(team, "/v1/bots", own))["id"]
        partner = await add_bot(suite, "eliza", name="secret-partner")
        admin = await suite.client("conversations", "admin")
        plan = {"mode": "all_play_all", "name": "talks", "domain": "everyday", "bots": [ours, partner]}
        collection = await created(
            admin, "/v1/collections", {**plan, "exchanges": 1, "conversations_per_pair": 3, "order": "first"}
        )
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        two = await stb("bots", "conversations", "ours", "--limit", "2", team="acme")
        assert len(_ids(two.stdout)) == 2
        assert "The first 2: --limit shows more." in two.stderr
        assert "secret-partner" not in two.stdout + two.stderr
        whole = json.loads((await stb("bots", "conversations", "ours", "--json", team="acme")).stdout)
        assert [len(each["turns"]) for each in whole["conversations"]] == [2, 2, 2]
        assert whole["has_more"] is False
        assert "secret-partner" in (await stb("bots", "conversations", "ours")).stdout
        refused = await stb("collections", "list", team="acme")
        assert (refused.returncode, "conversations answered 403" in refused.stderr) == (1, True)

    async def test_learn_from_a_corpus_that_is_named(self, stb: Stb, suite: RunningSuite):
        corpus = await add_corpus(suite)
        builtin = ("bots", "register", "finder", "--protocol", "builtin", "--model", "retrieval", "--json")
        made = json.loads((await stb(*builtin, "--corpus", "small")).stdout)
        assert made["protocol"]["corpus_id"] == corpus
        wrong = await stb("bots", "register", "x", "http://127.0.0.1:1", "--corpus", "small")
        assert (wrong.returncode, "--corpus is for" in wrong.stderr) == (2, True)


class TestStudies:
    async def test_are_listed_shown_and_ended_by_name(self, stb: Stb, suite: RunningSuite):
        corpus = await add_corpus(suite)
        spoken = [conversation(f"c{number}", "one", "other") for number in range(4)]
        collection = await import_conversations(suite, spoken)
        name = "whole name that takes more than the room that there is for it in a table"
        campaign = await open_campaign(suite, collection, name=name)
        for kind, known in (("corpora", corpus), ("collections", collection), ("campaigns", campaign["id"])):
            (found,) = json.loads((await stb(kind, "--json")).stdout)[kind]
            assert (await stb(kind)).stdout == (await stb(kind, "list")).stdout, kind
            for columns in (80, 40):
                listed = (await stb(kind, "list", columns=columns)).stdout
                assert (_ids(listed), found["name"][:4] in listed) == ([known], True), kind
            shown = await stb(kind, "show", found["name"])
            assert _ids(shown.stdout) == [known], kind
            by_prefix = await stb(kind, "show", known[:-1], "--json")
            assert _ids(by_prefix.stdout)[0] == known, kind
        assert "im" in (await stb("campaigns", "show", campaign["id"])).stdout
        assert (await stb("campaigns", "pause", name)).returncode == 0
        assert (await stb("campaigns", "open", campaign["id"][:-1])).returncode == 0
        assert "is open: its results can be released once" in (await stb("campaigns", "release", name)).stderr
        assert (await stb("campaigns", "close", name, answer="n\n")).returncode == 1
        closed = await stb("campaigns", "close", name, "--yes")
        assert closed.stderr.endswith(f"Campaign {name} ({campaign['id']}): closed\n")
        asked = await stb("corpora", "remove", "small", answer="n\n")
        assert (asked.returncode, "and its 16 dialogues are deleted, for good." in asked.stderr) == (1, True)
        assert _ids((await stb("corpora")).stdout) == [corpus]
        assert f"small ({corpus}) is removed." in (await stb("corpora", "remove", corpus[:-1], "--yes")).stderr
        assert (await stb("corpora")).stdout == ""
        for change, lines in (("release", 1), ("withdraw", 0)):
            assert (await stb("campaigns", change, name)).returncode == 0
            assert (await stb("campaigns", "show", name)).stdout.count("Results released to teams") == lines

    async def test_say_how_many_units_two_annotators_see(self, stb: Stb, suite: RunningSuite, tmp_path: Path):
        """Four conversations, three of them drawn: 4 + 3 annotations."""
        spoken = [conversation(f"c{number}", "one", "other") for number in range(4)]
        collection = await import_conversations(suite, spoken)
        file = tmp_path / "drawn.yaml"
        text = f"name: drawn\ncollections: ['{collection}']\nsegments: [1]\nunits_twice: 3\n"
        file.write_text(text)
        for arguments in ((str(file), "--dry-run"), (str(file),)):
            said = " ".join((await stb("campaign", *arguments)).stderr.split())
            assert "3 of 4 dialogues or pairs, drawn at random, have two annotators, the others one" in said
            assert "7 annotations by at least 2 annotators" in said
        shown = (await stb("campaigns", "show", "drawn")).stdout
        assert re.search("^Annotated twice +3 dialogues or pairs of dialogues$", shown, re.MULTILINE)
        file.write_text(text.replace("twice: 3", "twice: 5").replace("drawn", "more"))
        refused = await stb("campaign", str(file), "--dry-run")
        assert refused.returncode == 2
        said = "line 4: units_twice: must be at most 4: there are no more dialogues to annotate."
        assert said in " ".join(refused.stderr.split())

    async def test_pair_the_dialogues_of_one_person(self, stb: Stb, suite: RunningSuite, tmp_path: Path):
        """Four people, of whom three talked with two bots each: three pairs and one dialogue without a partner."""
        collection = await import_chats(suite, exported_chats(4)[1:])
        file = tmp_path / "pairs.yaml"
        text = f"name: paired\ncollections: ['{collection}']\nprotocol: comparative\npairs: same_person\n"
        file.write_text(text)
        for arguments in ((str(file), "--dry-run"), (str(file),)):
            said = " ".join((await stb("campaign", *arguments)).stderr.split())
            assert "1 packages with 3 segments: 6 conversations, each whole" in said
            assert "1 dialogues are left out, as they have no partner in a pair" in said
        shown = (await stb("campaigns", "show", "paired")).stdout
        assert re.search("^Pairs +two dialogues of one person$", shown, re.MULTILINE)
        once = await import_chats(suite, exported_chats(4)[::2])
        file.write_text(text.replace(collection, once).replace("paired", "more"))
        refused = await stb("campaign", str(file), "--dry-run")
        assert (refused.returncode, "line 4: pairs: finds no person" in " ".join(refused.stderr.split())) == (2, True)
        file.write_text(text.replace("same_person", "persons").replace("paired", "more"))
        refused = await stb("campaign", str(file), "--dry-run")
        assert (refused.returncode, "line 4: pairs" in refused.stderr) == (2, True)

    async def test_are_collected_paused_resumed_and_cancelled_without_a_data_folder(
        self, stb: Stb, suite: RunningSuite, tmp_path: Path
    ):
        file = tmp_path / "talk.yaml"
        file.write_text(
            "name: talk\ndomain: everyday\nmode: all_play_all\nbots: [eliza, dull]\nexchanges: 1\n"
            "conversations_per_pair: 2\n"
        )
        first, again = [await stb("collect", str(file)) for _ in range(2)]
        assert (first.returncode, again.returncode) == (0, 0), first.stderr
        (made,) = _ids(first.stderr)
        assert f"Collection {made}, started before: going on with it" in again.stderr
        registry, admin = [await suite.client(service, "admin") for service in ("bots", "conversations")]
        async with raw_server(never_answers) as url:  # the collection cannot end before it is cancelled
            silent = (await created(registry, "/v1/bots?probe=false", webhook(url)))["id"]
            bots = [silent, await add_bot(suite, "parrot")]
            await created(admin, "/v1/collections", plan(bots, name="long"))
            verbs = (("pause", "long"), ("resume", "long"), ("rename", "long", "longer"), ("cancel", "longer", "--yes"))
            states = [(await stb("collections", *words)).stderr for words in verbs]
        assert [each.rsplit(maxsplit=1)[-1] for each in states] == ["paused", "collecting", "collecting", "cancelled"]


class TestAddresses:
    async def test_are_named_where_they_lead_elsewhere(self, stb: Stb, address: str, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("SPOTTHEBOT_URL", f"{address}/elsewhere")
        for command in (("bots", "list"), ("bots", "show", NOBODY), ("bots", "show", "x")):
            missing = await stb(*command, columns=200)
            assert missing.returncode == 1
            assert missing.stderr.startswith(f"Error: There is no service 'bots' at {address}/elsewhere/bots: ")

    async def test_are_named_where_nothing_answers(self, stb: Stb, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("spotthebot.clients.channel.Retries.wait_seconds", lambda *_: None)
        monkeypatch.setenv("SPOTTHEBOT_URL", "http://127.0.0.1:1")
        silent = await stb("bots", "list", columns=200)
        assert silent.returncode == 1
        assert silent.stderr.startswith("Error: The service 'bots' does not answer at http://127.0.0.1:1/bots: ")

    async def test_refuse_an_unknown_key_and_show_none(self, address: str):
        refused = await asyncio.to_thread(run_stb, "bots", "list", "--url", address, "--key", KEY)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "bots answered 401 to GET /v1/bots: This API key is not known" in refused.stderr
        assert KEY not in refused.stderr


class TestLists:
    async def test_have_a_row_a_line_where_nobody_says_how_wide_they_may_be(
        self, stb: Stb, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        name = "a-bot-" * 15
        await add_bot(suite, "dull", name=f"{name}[2J")
        await stb("bots", "list")
        monkeypatch.delenv("COLUMNS")
        listed = await asyncio.to_thread(run_stb, "bots", "list")
        (row,) = listed.stdout.splitlines()[1:]
        assert row.startswith(f"{name}[2J  ")
        assert UUID(row[-36:])
