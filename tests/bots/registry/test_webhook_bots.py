"""Teams' bots over HTTP: registration with one POST, probes, and questions in the webhook's form."""

import asyncio
import base64
import secrets
from typing import Any
from uuid import uuid4

import pytest
from standardwebhooks import Webhook
from structlog.testing import capture_logs

from spotthebot.bots.protocols.webhook import question
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.webhook import WebhookQuestion
from tests.factories.bot_servers import Answer, bot, webhook, well_behaved
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import created

SECRET = "whsec_" + base64.b64encode(b"a key of at least 24 bytes").decode()


async def _registered(suite: RunningSuite, answer: Answer, **more: Any) -> dict[str, Any]:
    async with bot(answer) as (_, url):
        return await created(await suite.client("bots", "team", team="us"), "/v1/bots", webhook(url, **more))


def _finding(bot_out: dict[str, Any], check: str) -> dict[str, str]:
    return next(each for each in bot_out["probe"]["findings"] if each["check"] == check)


class TestRegistration:
    async def test_answers_with_a_report_of_all_checks(self, suite: RunningSuite):
        out = await _registered(suite, well_behaved)
        assert (out["status"], out["version"], out["probe"]["passed"]) == ("active", 1, True)
        verdicts = {each["check"]: each["verdict"] for each in out["probe"]["findings"]}
        assert set(verdicts) == {
            *("reachable", "answers_in_turn", "reply_not_empty", "reply_not_too_long", "valid_text", "keeps_no_state"),
            *("only_the_reply", "reply_not_cut"),
            *("empty_history", "long_history", "emoji", "right_to_left", "repeats_itself", "deterministic", "latency"),
        }
        assert set(verdicts.values()) <= {"passed", "noted"}
        assert out["probe"]["deterministic"] is True
        assert out["probe"]["latency"]["n"] == out["probe"]["questions"] > 10

    async def test_reports_a_bot_that_is_not_there_as_failing(self, suite: RunningSuite):
        team = await suite.client("bots", "team", team="us")
        with capture_logs() as lines:
            out = await created(team, "/v1/bots", webhook("http://127.0.0.1:9/reply"))
        assert (out["status"], out["probe"]["passed"]) == ("failing", False)
        (logged,) = [line for line in lines if line["event"] == "bot.probe_failed"]
        assert (logged["log_level"], logged["bot"], logged["id"]) == ("warning", out["name"], out["id"])
        assert logged["reason"] == out["status_reason"]
        assert _finding(out, "reachable")["verdict"] == "failed"
        assert "No bot answers at its URL" in out["status_reason"]
        assert out["probe"]["seconds"] is None  # they would tell a closed port from a silent one
        assert _finding(out, "emoji")["verdict"] == "skipped"

    async def test_names_each_fault_of_a_bot(self, suite: RunningSuite):
        cases: list[tuple[Answer, str, str]] = [
            (lambda _: {"text": ""}, "reply_not_empty", "failed"),
            (lambda _: {"text": "a" * 3000}, "reply_not_too_long", "failed"),
            (lambda _: {"text": "a\u202eb"}, "reachable", "failed"),
            (lambda _: {"text": "Always the same."}, "repeats_itself", "warned"),
            (lambda question: {"text": "Hi." if question["turns"] else ""}, "empty_history", "warned"),
            (lambda _: {"text": secrets.token_hex(4)}, "deterministic", "noted"),
        ]
        for number, (answer, check, verdict) in enumerate(cases):
            out = await _registered(suite, answer, name=f"bot {number}")
            assert _finding(out, check)["verdict"] == verdict, check
            assert out["probe"]["passed"] == (verdict != "failed"), check
            assert out["status"] == ("failing" if verdict == "failed" else "active"), check

    async def test_finds_a_bot_that_remembers_across_conversations(self, suite: RunningSuite):
        heard: list[str] = []

        def remembers(question: dict[str, Any]) -> dict[str, str]:
            heard.extend(turn["text"] for turn in question["turns"])
            names = [word.strip(".") for text in heard for word in text.split() if word.startswith("Quill")]
            return {"text": f"I remember {names[-1] if names else 'nothing'} of {len(heard)}."}

        out = await _registered(suite, remembers)
        assert _finding(out, "keeps_no_state")["verdict"] == "failed"
        assert out["status"] == "failing"

    async def test_without_a_probe_leaves_it_to_a_heartbeat(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            team = await suite.client("bots", "team", team="us")
            out = await created(team, "/v1/bots?probe=false", webhook(url))
            assert (out["status"], out["probe"]) == ("probing", None)
            async with asyncio.timeout(20):
                while (found := (await team.get(f"/v1/bots/{out['id']}")).json())["status"] == "probing":
                    await asyncio.sleep(0.05)
        assert (found["status"], found["probe"]["passed"]) == ("active", True)

    async def test_repeated_with_its_key_gives_the_same_answer(self, suite: RunningSuite):
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url):
            answers = [
                await team.post("/v1/bots", json=webhook(url), headers={"Idempotency-Key": "once"}) for _ in range(2)
            ]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert answers[0].json() == answers[1].json()
        assert len((await team.get("/v1/bots")).json()["items"]) == 1

    async def test_points_at_each_wrong_field(self, suite: RunningSuite):
        team = await suite.client("bots", "team", team="us")
        for change, pointer in (
            ({"protocol": {"kind": "webhook", "url": "ftp://example.org"}}, "/protocol/url"),
            ({"protocol": {"kind": "webhook", "url": "http://user:pw@example.org"}}, "/protocol/url"),
            ({"protocol": {"kind": "webhook", "url": "http://"}}, "/protocol/url"),
            ({"protocol": {"kind": "webhook", "url": "http://example.org:99999999/"}}, "/protocol/url"),
            ({"protocol": {"kind": "webhook", "url": "http://127.0.0.1/", "version": 2}}, "/protocol/version"),
            ({"protocol": {"kind": "carrier-pigeon"}}, "/protocol"),
            ({"secret": "not a signing secret"}, "/secret"),
            ({"secret": "whsec_c2hvcnQ="}, "/secret"),
            ({"limits": {"concurrency": 0}}, "/limits/concurrency"),
            ({"limits": {"timeout_seconds": 1e9}}, "/limits/timeout_seconds"),
        ):
            answer = await team.post("/v1/bots", json=webhook("http://127.0.0.1:9/") | change)
            assert answer.status_code == 422, answer.text
            assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}

    async def test_refuses_an_internal_address_unless_it_is_allowed(self, database_urls: DatabaseUrls):
        async with run_suite(database_urls, bots=bots_settings() | {"allowed_networks": ()}) as suite:
            team = await suite.client("bots", "team", team="us")
            for url in ("http://127.0.0.1:9/", "http://localhost/", "http://169.254.169.254/", "http://[::1]/"):
                answer = await team.post("/v1/bots", json=webhook(url))
                assert (answer.status_code, answer.json()["type"]) == (
                    422,
                    "urn:spotthebot:problem:address-not-allowed",
                )
                assert answer.json()["errors"][0]["pointer"] == "/protocol/url"
            assert (await team.get("/v1/bots")).json()["items"] == []

    async def test_refuses_teams_the_protocols_of_our_own_machines(self, suite: RunningSuite):
        team = await suite.client("bots", "team", team="us")
        for protocol in ({"kind": "transformers", "model": "x/y"}, {"kind": "triton", "model": "gpt"}):
            answer = await team.post("/v1/bots", json=webhook("") | {"protocol": protocol})
            assert answer.status_code == 403


class TestWebhook:
    @pytest.mark.parametrize(
        "context",
        [
            Context((), 0),
            Context(('Hi "you"\n', "مرحبا 👋 \u2028"), 2**63 - 1, uuid4(), None, "everyday", "A \\ gardener"),
            Context(("One.",), 3, uuid4(), "A"),
        ],
        ids=["the bot begins", "every field", "the bot's side is given"],
    )
    async def test_has_the_form_of_its_contract(self, context: Context):
        """The contract's own model reads the question and would write the same bytes."""
        text = question(context)
        assert WebhookQuestion.model_validate_json(text).model_dump_json() == text

    async def test_is_signed_so_that_the_team_can_verify_it(self, suite: RunningSuite):
        async with bot(well_behaved) as (served, url):
            team = await suite.client("bots", "team", team="us")
            out = await created(team, "/v1/bots", webhook(url, secret=SECRET))
            assert out["has_secret"] is True
            for headers, body in zip(served.headers, served.bodies, strict=True):
                Webhook(SECRET).verify(body, headers)  # raises where the signature is not right
            with pytest.raises(Exception, match="signature"):
                Webhook("whsec_" + base64.b64encode(b"another key of 24 bytes.").decode()).verify(
                    served.bodies[0], served.headers[0]
                )

    async def test_carries_the_conversation_and_the_side_of_the_bot(self, suite: RunningSuite):
        conversation = str(uuid4())
        async with bot(well_behaved) as (served, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url))
            context = {
                "turns": ["One.", "Two.", "Three."],
                "conversation_id": conversation,
                "domain": "everyday",
                "persona": "You are a gardener.",
                "seed": 7,
            }
            body = {"contexts": [context, context | {"speaker": "A"}]}
            await admin.post(f"/v1/bots/{out['id']}/replies", json=body)
        asked = sorted(served.asked[-2:], key=lambda each: each["speaker"], reverse=True)
        assert asked[0] == {
            "conversation_id": conversation,
            "turn": 3,
            "domain": "everyday",
            "persona": "You are a gardener.",
            "speaker": "B",
            "seed": 7,
            "turns": [
                {"speaker": "A", "text": "One."},
                {"speaker": "B", "text": "Two."},
                {"speaker": "A", "text": "Three."},
            ],
        }
        assert [turn["speaker"] for turn in asked[1]["turns"]] == ["B", "A", "B"]

    async def test_gives_repeated_questions_the_same_key_and_others_another(self, suite: RunningSuite):
        async with bot(well_behaved) as (served, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url))
            path = f"/v1/bots/{out['id']}/replies"
            context = {"turns": ["One."], "conversation_id": str(uuid4())}
            for each in (context, context, context | {"turns": ["Two."]}, {"turns": ["One."]}, {"turns": ["One."]}):
                await admin.post(path, json={"contexts": [each]})
        keys = [headers["idempotency-key"] for headers in served.headers[-5:]]
        assert keys[0] == keys[1]
        assert len(set(keys)) == 4
        assert all(headers["webhook-id"] == f"msg_{headers['idempotency-key']}" for headers in served.headers)
