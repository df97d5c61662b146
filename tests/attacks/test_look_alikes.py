"""Names that people can't read, or take for other names, get nowhere: not by forms, by requests or by files.

Which characters look alike is the table of Unicode Technical Standard 39: https://www.unicode.org/reports/tr39/
"""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.names import BotName, ReadableName, find_look_alike, skeleton
from tests.factories.command_line import run_stb
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created

UNREADABLE = (
    *("HU\u200b", "retrieval\u200b", "\u200b\u200b", "\u2066\u2067", "a\nb", "a\u202egnp.exe", "\x1b[2Jx", "a\tb"),
    *("soft\u00adhyphen", "\ufeffbom", "tag\U000e0041", "filler\u3164", "\u2800", "\u200d", "mark\u200f", "a\u2028b"),
    *("word\u2060joiner", "grapheme\u034fjoiner", "next\x85line", "\x7f"),
    *("anchor\ufff9", "retrieval\U00013437", "HU\U00016fe4", "null\U0001d159"),
)
PEOPLE = (
    "HU",
    "hu",
    "\u041d\u03c5",
    "\u0397U",
    "\uff28\uff35",
    "H\u054d",
    "\U0001d407\U0001d414",
    "H\u200dU",
    "HU\u2800",
)
READABLE = (
    *(
        "retrieval",
        "GPT-4 (mini)",
        "Größe",
        "e\u0301",
        "日本語ボット",
        "שלום",
        "سلام",
        "\u0646\u0645\u06cc\u200c\u062f",
    ),
    *("\U0001f469\u200d\U0001f4bb bot", "\u2764\ufe0f", "\u0646\u0645\u06cc\u200c\u062f", "HUB", "H U M"),
)
ALIKE = (
    ("retrieval", "r\u0435trieval"),
    ("retrieval", "retrieva1"),
    ("paypal", "\u0440\u0430\u0443\u0440\u0430l"),
    ("modern", "modem"),
    ("bot-0", "bot-O"),
    ("my bot", "my  bot"),
    ("my bot", "my\u3000bot"),
    ("my bot", "my\u2800bot"),
    ("retrieval", "retrieval\u2800"),
    ("wide", "\uff57\uff49\uff44\uff45"),
    ("\u00e9cole", "e\u0301cole"),
    ("joined", "joi\u200dned"),
    ("fish", "\ufb01sh"),
)
TWO = [{"kind": "bot", "name": name} for name in ALIKE[0]]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


def _bot(name: str) -> dict[str, Any]:
    return {"name": name, "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}


class TestNames:
    @pytest.mark.parametrize("name", UNREADABLE)
    def test_unreadable_names_are_refused(self, name: str):
        for kind in (ReadableName, BotName):
            with pytest.raises(ValidationError, match=r"is invisible or|visible character|at least 1"):
                TypeAdapter(kind).validate_python(name)

    @pytest.mark.parametrize("name", READABLE)
    def test_names_of_all_languages_are_taken(self, name: str):
        assert TypeAdapter(BotName).validate_python(name) == name

    @pytest.mark.parametrize("name", PEOPLE)
    def test_no_bot_has_a_name_that_reads_as_people(self, name: str):
        with pytest.raises(ValidationError, match="HU stands for people in results"):
            TypeAdapter(BotName).validate_python(name)

    @pytest.mark.parametrize(("one", "other"), ALIKE)
    def test_look_alikes_are_found(self, one: str, other: str):
        assert find_look_alike(one, ["eliza", one, other]) == other
        assert find_look_alike(other, [other, "eliza"]) is None

    def test_names_that_differ_to_the_eye_differ(self):
        names = ["gpt2", "gpt-2", "gpt_2", "GPT2", "gpt3", "gpt 2", "gpt2.", "eliza", "élisa"]
        assert len({skeleton(each) for each in names}) == len(names)

    def test_studies_have_names_that_can_be_read(self):
        study = {"mode": "human_bot", "name": "old\u200b", "domain": "everyday", "bots": [f"{1:032x}", f"{2:032x}"]}
        with pytest.raises(ValidationError):
            HumanBotIn.model_validate(study)


class TestRegistrations:
    @pytest.mark.parametrize("name", ["HU\u200b", "\u0397U", "retrieval\u200b", "a\u202egnp.exe", "\u200b\u200b"])
    async def test_bots_under_unreadable_names_are_refused(self, suite: RunningSuite, name: str):
        team = await suite.client("bots", "team", team="us")
        refused = await team.post("/v1/bots?probe=false", json=_bot(name))
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/name")

    async def test_a_bot_named_like_another_of_the_team_is_refused(self, suite: RunningSuite):
        us, them = [await suite.client("bots", "team", team=team) for team in ("us", "them")]
        one, other = ALIKE[0]
        await created(us, "/v1/bots?probe=false", _bot(one))
        refused = await us.post("/v1/bots?probe=false", json=_bot(other))
        assert (refused.status_code, "looks like 'retrieval'" in refused.json()["detail"]) == (409, True)
        await created(them, "/v1/bots?probe=false", _bot(other))  # who else has which names is nobody's business

    @pytest.mark.parametrize(
        ("service", "path", "body"),
        [
            ("conversations", "/v1/collections", {"mode": "import", "domain": "everyday"}),
            ("conversations", "/v1/corpora", {"domain": "everyday", "origin": "x", "licence": "x"}),
            ("conversations", "/v1/partner-sets", {"bots": [f"{1:032x}"]}),
            ("annotation", "/v1/campaigns", {"domain": "everyday", "collection_id": f"{1:032x}", "segments": [1]}),
            ("annotation", "/v1/studies", {"campaigns": [f"{1:032x}"]}),
        ],
    )
    async def test_other_things_need_a_readable_name(
        self, suite: RunningSuite, service: str, path: str, body: dict[str, Any]
    ):
        admin = await suite.client(service, "admin")
        refused = await admin.post(path, json=body | {"name": "autumn\u200b"})
        assert refused.status_code == 422
        assert "/name" in refused.json()["detail"]

    async def test_corpora_that_look_alike_are_refused(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        body = {"domain": "everyday", "origin": "x", "licence": "x"}
        await created(admin, "/v1/corpora", body | {"name": "small"})
        refused = await admin.post("/v1/corpora", json=body | {"name": "sma11"})
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (409, "corpus-name-looks-alike")


class TestResults:
    async def test_hold_no_two_bots_that_look_alike(self, suite: RunningSuite):
        bots = []
        for team, name in zip(("us", "them"), ALIKE[0], strict=True):
            owner = await suite.client("bots", "team", team=team)
            bots.append((await created(owner, "/v1/bots", _bot(name)))["id"])
        admin = await suite.client("conversations", "admin")
        plan = {"mode": "all_play_all", "name": "c", "domain": "everyday", "bots": bots, "exchanges": 2}
        refused = await admin.post("/v1/collections", json=plan | {"conversations_per_pair": 1})
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (422, "names-look-alike")

    async def test_hold_none_from_a_file_either(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        body = {"mode": "import", "name": "im", "domain": "everyday"}
        collection = (await created(admin, "/v1/collections", body))["id"]
        path = f"/v1/collections/{collection}/conversations"
        one, other = ALIKE[0]
        await created(admin, path, {"conversations": [conversation("c0", one, "eliza")]})
        answers = [
            await admin.post(path, json={"conversations": [conversation("c1", name, "eliza")]})
            for name in (other, "HU\u200b", "\u0397U", "a\u202eb")
        ]
        assert [each.status_code for each in answers] == [422] * 4
        held = (await admin.get(path)).json()["items"]
        assert [each["participants"][0]["name"] for each in held] == [one]

    async def test_hold_none_from_an_export_either(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        body = {"mode": "import", "name": "im", "domain": "everyday"}
        first, second = [(await created(admin, "/v1/collections", body))["id"] for _ in range(2)]
        await created(
            admin, f"/v1/collections/{first}/conversations", {"conversations": [conversation("c0", "one", "two")]}
        )
        line = (await admin.get(f"/v1/collections/{first}/export")).text.strip()
        for name in ("one\u200b", "\u0397U"):
            forged = line.replace('"one"', json.dumps(name))
            assert forged != line
            answer = await admin.post(f"/v1/collections/{second}/uploads", content=forged.encode())
            assert (answer.json()["stored"], answer.json()["rejected"]["count"]) == (0, 1)

    async def test_hold_none_from_two_collections_either(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collections = []
        for name in ALIKE[0]:
            body = {"mode": "import", "name": name, "domain": "everyday"}
            collections.append((await created(admin, "/v1/collections", body))["id"])
            path = f"/v1/collections/{collections[-1]}/conversations"
            await created(admin, path, {"conversations": [conversation("c" + name, name, "eliza")]})
        annotation = await suite.client("annotation", "admin")
        both: dict[str, Any] = {"name": "both", "domain": "everyday", "collections": collections, "segments": [1]}
        refused = await annotation.post("/v1/campaigns", json=both)
        assert (refused.status_code, "look alike" in refused.text) == (422, True)


class TestTeams:
    def test_get_no_key_under_a_name_that_nobody_can_read(self, tmp_path: Any):
        refused = run_stb("keys", "create", "--role", "team", "--team", "acme\u200b", "--data-dir", str(tmp_path))
        assert refused.returncode == 2
        assert "U+200B" in refused.stderr
