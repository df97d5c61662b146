"""The form of a bot: it has a field for everything that can be said of one, and says what is wrong in plain words."""

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter, ValidationError

from spotthebot.contracts.bots.protocols import Protocol, WebhookProtocol
from spotthebot.contracts.bots.registry import BotIn, Limits
from spotthebot.local.conformance_check import check_bot
from spotthebot.web.bots.forms import (
    PROTOCOLS,
    Fault,
    bot_document,
    faults_of,
    field_at,
    fields_of,
    limit_fields,
    values_of,
)
from spotthebot.web.catalogues import FOLDER, Texts
from tools import ROOT

EXAMPLES: list[dict[str, Any]] = BotIn.model_json_schema()["examples"]
HOW_TO = FOLDER.parent / "bots" / "templates" / "examples"


class TestFields:
    def test_are_all_of_the_contract(self):
        schema = TypeAdapter(Protocol).json_schema()
        assert set(PROTOCOLS) == set(schema["discriminator"]["mapping"])
        for kind, model in PROTOCOLS.items():
            named = {each.name.split(".")[1] for each in fields_of(kind)} - {"secret"}
            assert named == set(model.model_fields) - {"kind", "plugin", "version"}, kind
        assert {each.name for each in limit_fields()} == {f"limits.{name}" for name in Limits.model_fields}

    @pytest.mark.parametrize("language", ["en", "de"])
    def test_have_their_texts(self, language: str):
        texts = Texts(language).names
        fields = [each for kind in PROTOCOLS for each in fields_of(kind)] + list(limit_fields())
        assert [each.label for each in fields if f"bots.fields.{each.label}" not in texts] == []
        assert [each.label for each in fields if f"bots.hints.{each.label}" not in texts] == []
        assert [choice for each in fields for choice in each.choices if f"bots.choices.{choice}" not in texts] == []


class TestWhatWasTyped:
    @pytest.mark.parametrize("example", EXAMPLES, ids=[each["name"] for each in EXAMPLES])
    def test_is_the_bot_that_was_meant(self, example: dict[str, Any]):
        """Each example of the contract, typed into the form field by field, is that example again."""
        meant = BotIn.model_validate(example)
        kind = meant.protocol.kind
        typed = {"name": meant.name, "description": meant.description, "domains": " ,".join(meant.domains)}
        typed |= values_of(meant.protocol.model_dump(mode="json"), kind)
        typed |= values_of(meant.limits.model_dump(), "limits")
        typed |= {f"{kind}.secret": meant.secret.get_secret_value()} if meant.secret else {}
        assert BotIn.model_validate(bot_document(typed, kind)) == meant

    def test_leaves_out_what_belongs_to_another_protocol(self):
        typed = {"webhook.url": "https://a.example", "openai.model": "m", "openai.secret": "sk"}
        assert bot_document(typed, "webhook")["protocol"] == {"kind": "webhook", "url": "https://a.example"}

    def test_keeps_lists_as_lines(self):
        document = bot_document({"openai.stop": "\r\nYou: \r\n\nMe:"}, "openai")
        assert document["protocol"] == {"kind": "openai", "stop": ["You: ", "Me:"], "sends_seed": False}


class TestFaults:
    @pytest.mark.parametrize(
        ("typed", "field", "fault"),
        [
            ({}, "webhook.url", Fault("missing")),
            ({"name": " "}, "name", Fault("missing", {"least": 1})),
            ({"name": "x" * 101}, "name", Fault("too_long", {"most": 100})),
            ({"name": "Hu"}, "name", Fault("people")),
            ({"domains": ""}, "domains", Fault("missing", {"least": 1})),
            ({"domains": "every day!"}, "domains", Fault("domain")),
            ({"webhook.url": "https://user@a.example"}, "webhook.url", Fault("url")),
            ({"limits.concurrency": "many"}, "limits.concurrency", Fault("whole_number")),
            ({"limits.timeout_seconds": "0"}, "limits.timeout_seconds", Fault("at_least", {"least": 0.1})),
            ({"limits.timeout_seconds": "301"}, "limits.timeout_seconds", Fault("at_most", {"most": 300.0})),
        ],
    )
    def test_are_named_beside_their_field(self, typed: dict[str, str], field: str, fault: Fault):
        with pytest.raises(ValidationError) as refused:
            BotIn.model_validate(bot_document(typed, "webhook"))
        assert faults_of(refused.value, "webhook")[field] == fault
        if fault.text:
            Texts("de")(f"bots.faults.{fault.text}", **fault.places)

    @pytest.mark.parametrize(
        ("place", "field"),
        [
            (("protocol", "url"), "webhook.url"),
            (("protocol", "webhook", "url"), "webhook.url"),
            (("secret",), "webhook.secret"),
            (("domains", 0), "domains"),
            (("limits", "concurrency"), "limits.concurrency"),
        ],
    )
    def test_from_a_service_find_their_field(self, place: tuple[str | int, ...], field: str):
        assert field_at(place, "webhook") == field


class TestHowTo:
    @pytest.fixture
    def url(self) -> Iterator[str]:
        """The program of the page, run as it stands, but for its port."""
        program: dict[str, Any] = {"__name__": "bot"}
        exec((HOW_TO / "webhook_bot.py.txt").read_text(), program)  # noqa: S102 - our own
        program["Bot"].log_message = lambda *_: None
        with ThreadingHTTPServer(("127.0.0.1", 0), program["Bot"]) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,)).start()
            yield f"http://127.0.0.1:{server.server_port}/reply"
            server.shutdown()

    @pytest.fixture
    def secret(self) -> str:
        """The secret that the first line of the page's check makes."""
        export = (HOW_TO / "check.sh").read_text().partition("\n")[0]
        return subprocess.check_output(["bash", "-c", f"{export}; echo $SECRET"], text=True).strip()  # noqa: S607 - any bash

    def test_has_the_bot_of_the_documents(self):
        example = ROOT / "docs" / "examples" / "webhook_bot.py"
        assert (HOW_TO / "webhook_bot.py.txt").read_text() == example.read_text(), "renew it: ./stb docs"

    async def test_has_a_bot_that_passes_the_probe(self, url: str):
        report = await check_bot(WebhookProtocol(kind="webhook", url=url), None, Limits(), seconds=20)
        assert [each.check for each in report.findings if each.verdict not in {"passed", "noted"}] == []

    async def test_has_a_secret_without_which_the_bot_answers_nobody(
        self, url: str, secret: str, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("SECRET", secret)
        for given in (secret, None):
            report = await check_bot(WebhookProtocol(kind="webhook", url=url), given, Limits(), seconds=20)
            assert any(each.verdict == "failed" for each in report.findings) == (given is None)

    def test_has_the_answer_that_its_request_gets(self, url: str):
        request = (HOW_TO / "ask.sh").read_text().partition("-d '")[2].rstrip("'\n")
        answer = httpx.post(url, content=request, trust_env=False)
        assert answer.json() == json.loads((HOW_TO / "answer.json").read_text())
