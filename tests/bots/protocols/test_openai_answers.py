"""Answers of OpenAI-compatible servers, over real HTTP: what is read, what is left out, and what a refusal advises."""

import json
from typing import Any

import pytest

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.openai import OpenAISpeaker
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.protocols import OpenAIProtocol
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote, ReplyOut
from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.resolver import CheckingResolver
from tests.factories.bot_servers import Talk, bot, raw_server, says

pytestmark = pytest.mark.usefixtures("no_services")

LOOPBACK = networks(["127.0.0.0/8"])
HELLO = Context(("Hello!",), 0)
AGAIN = b"Retry-After: 60\r\n"  # longer than a reply may take: nothing is asked again
JSON = b"Content-Type: application/json\r\n" + AGAIN
EVENTS = b"Content-Type: text/event-stream\r\n" + AGAIN


def _completion(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}]}


async def _nothing(_reason: str) -> None:
    return


async def _ask(url: str, context: Context = HELLO, **options: Any) -> ReplyOut:
    protocol = OpenAIProtocol(kind="openai", base_url=url, model="m", **options)
    async with BotHttp(CheckingResolver(LOOPBACK)) as http:
        limits = Limits(timeout_seconds=30)
        client = BotClient("b/1", OpenAISpeaker(protocol, None, http), limits, _nothing, cleaning=protocol.cleaning)
        return await client.reply(context)


async def _answered(answer: Any) -> ReplyOut:
    async with raw_server(says(json.dumps(answer).encode(), headers=JSON)) as url:
        return await _ask(url)


class TestReplies:
    @pytest.mark.parametrize(
        ("answer", "notes"),
        [
            (_completion("Hi!"), ()),
            (_completion("<think>AI</think>Hi!"), (ReplyNote.REASONING,)),
            (_completion("Hi!", reasoning_content="AI"), (ReplyNote.REASONING,)),
            (_completion([{"type": "thinking", "thinking": "AI"}, {"type": "text", "text": "Hi!"}]), ("reasoning",)),
            (_completion([{"type": "reasoning", "text": "AI"}, {"type": "text", "text": "Hi!"}]), ("reasoning",)),
            (_completion([{"text": "AI", "thought": True}, {"type": "output_text", "text": "Hi!"}]), ("reasoning",)),
            (_completion("Hi!", "length"), (ReplyNote.CUT,)),
            (_completion("Hi!", {"odd": []}), ()),
        ],
    )
    async def test_are_read_without_reasoning(self, answer: Any, notes: tuple[str, ...]):
        reply = await _answered(answer)
        assert (reply.text, reply.notes) == ("Hi!", notes), reply.detail

    @pytest.mark.parametrize(
        ("sent", "text", "failure"),
        [
            (b': hi\n\ndata: {"choices": [{"delta": {"content": "Hi!"}}]}\n\ndata: [DONE]\n\n', "Hi!", None),
            (b'data: {"choices": [{"delta": {"content": "Hi!"}, "finish_reason": "stop"}]}\r\n\r\n', "Hi!", None),
            (b'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\n', None, ReplyFailure.INVALID),
            (b'data: {"error": {"code": 429}}\n\n', None, ReplyFailure.RATE_LIMITED),
            (b"data: {\n\n", None, ReplyFailure.INVALID),
            (b'data: [1]\n\ndata: {"choices": [{"delta": 5}]}\n\ndata: [DONE]', None, ReplyFailure.EMPTY),
        ],
    )
    async def test_are_read_from_a_stream_that_nobody_asked_for(
        self, sent: bytes, text: str | None, failure: ReplyFailure | None
    ):
        async with raw_server(says(sent, headers=EVENTS)) as url:
            reply = await _ask(url)
        assert (reply.text, reply.failure) == (text, failure), reply.detail


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "failure", "words"),
        [
            (_completion([{"type": "text", "text": {"value": "Hi!"}}]), ReplyFailure.INVALID, "part 0 is dict"),
            (_completion([{"type": "text", "text": 5}]), ReplyFailure.INVALID, "part 0 is int"),
            (_completion(["Hi!"]), ReplyFailure.INVALID, "part 0 is str"),
            (_completion([None]), ReplyFailure.INVALID, "part 0 is NoneType"),
            (_completion([{"type": {"a": 1}, "text": []}]), ReplyFailure.INVALID, "part 0 is list"),
            (_completion({"text": "Hi!"}), ReplyFailure.INVALID, "content is dict"),
            (_completion(5), ReplyFailure.INVALID, "content is int"),
            (_completion(None, "content_filter", refusal="I can't."), ReplyFailure.EMPTY, "it refuses (I can't.)"),
            (_completion([{"type": "refusal", "refusal": "I can't."}]), ReplyFailure.EMPTY, "it refuses (I can't.)"),
            (_completion(None, "content_filter"), ReplyFailure.EMPTY, "finish_reason is content_filter"),
            (_completion("", "tool_calls", tool_calls=[{}]), ReplyFailure.EMPTY, "it calls a tool"),
            (_completion("", "length", reasoning_content="AI"), ReplyFailure.EMPTY, "raise `max_tokens`"),
            (_completion("<think>AI", "length"), ReplyFailure.INVALID, "nothing closes it"),
            ({"choices": []}, ReplyFailure.INVALID, "no choices[0]"),
            ({"choices": {"0": 1}}, ReplyFailure.INVALID, "no choices[0]"),
            ({"choices": [None]}, ReplyFailure.INVALID, "no choices[0]"),
            ({"choices": [{"message": "Hi!"}]}, ReplyFailure.INVALID, "no choices[0]"),
            ({"choices": None, "error": {"code": 429, "message": "slow"}}, ReplyFailure.RATE_LIMITED, "slow"),
            ({"error": {"code": "rate_limit_exceeded"}}, ReplyFailure.RATE_LIMITED, "rate_limit_exceeded"),
            ({"error": {"message": "Rate limit reached for the model"}}, ReplyFailure.RATE_LIMITED, "reached"),
            ({"object": "error", "message": "slow", "code": 429.0}, ReplyFailure.RATE_LIMITED, "slow"),
            ({"statusCode": 429, "message": "slow"}, ReplyFailure.RATE_LIMITED, "slow"),
            ({"detail": "Too many requests"}, ReplyFailure.RATE_LIMITED, "Too many"),
            ({"object": "error", "message": "no such model"}, ReplyFailure.INVALID, "no such model"),
            ({"choices": [{"error": {"code": 502}, "message": {}}]}, ReplyFailure.HTTP_ERROR, "502"),
            ({"error": "out of memory"}, ReplyFailure.INVALID, "out of memory"),
            ({"error": {"code": 10**400}}, ReplyFailure.INVALID, "error"),
            ([], ReplyFailure.INVALID, "no choices[0]"),
            (None, ReplyFailure.INVALID, "no choices[0]"),
            ("Hi!", ReplyFailure.INVALID, "no choices[0]"),
        ],
    )
    async def test_have_a_reason_whatever_the_answer_is(self, answer: Any, failure: ReplyFailure, words: str):
        reply = await _answered(answer)
        assert (reply.text, reply.failure) == (None, failure), reply.detail
        assert words in (reply.detail or "")
        assert reply.retry_after_seconds == (
            60 if failure in {ReplyFailure.RATE_LIMITED, ReplyFailure.HTTP_ERROR} else None
        )

    async def test_an_exception_of_our_own_reader_is_the_bots_failure(self, monkeypatch: pytest.MonkeyPatch):
        """Whatever else an answer may trip up: the request for other conversations is answered all the same."""

        def trips(_answer: object) -> None:
            raise TypeError

        monkeypatch.setattr("spotthebot.bots.protocols.openai.read_completion", trips)
        reply = await _answered(_completion("Hi!"))
        assert (reply.failure, reply.detail) == (ReplyFailure.INVALID, "The answer can't be read (TypeError).")


class TestOptions:
    async def _asked(self, context: Context = HELLO, **options: Any) -> dict[str, Any]:
        async with bot(lambda _: _completion("Hi!")) as (served, url):
            await _ask(url, context, **options)
        return served.asked[0]

    async def test_put_the_persona_into_the_users_first_turn(self):
        context = Context(("Hello!", "Hi.", "Who are you?"), 0, persona="You are Ann.")
        asked = await self._asked(context, system_prompt="Be short.", system_role="user")
        assert [each["role"] for each in asked["messages"]] == ["user", "assistant", "user"]
        assert asked["messages"][0]["content"] == "Be short.\n\nYou are Ann.\n\nHello!"
        begins = await self._asked(Context((), 0), system_prompt="Be short.", system_role="user")
        assert begins["messages"] == [
            {"role": "user", "content": "Be short.\n\nBegin our conversation with one short line."}
        ]

    async def test_name_the_limit_of_tokens_as_the_server_does(self):
        asked = await self._asked(max_completion_tokens=9000)
        assert (asked["max_completion_tokens"], "max_tokens" in asked) == (9000, False)

    @pytest.mark.parametrize(
        ("message", "hint"),
        [
            ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "`max_completion_tokens`"),
            ("System role not supported", '`system_role: "user"`'),
            ("Conversation roles must alternate user/assistant/user/assistant/...", '`system_role: "user"`'),
            ("Developer instruction is not enabled for this model", '`system_role: "user"`'),
            ("Unrecognized request argument: seed", "`sends_seed: false`"),
            ("Unsupported value: 'temperature' does not support 0.7", "without the field"),
        ],
    )
    async def test_are_named_by_a_refusal_that_one_of_them_mends(self, message: str, hint: str):
        talk: Talk = says(json.dumps({"error": {"message": message}}).encode(), status=b"400 Bad Request")
        async with raw_server(talk) as url:
            reply = await _ask(url)
        assert reply.failure is ReplyFailure.HTTP_ERROR
        assert hint in (reply.detail or "")
