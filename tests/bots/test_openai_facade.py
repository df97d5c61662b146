"""The pool behind OpenAI's API: any client of it can talk to any bot that its key may use."""

from typing import Any

import openai
import pytest

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created


async def _client(suite: RunningSuite, role: str = "admin", team: str | None = None) -> openai.AsyncOpenAI:
    key = await suite.keys.make(role, team=team)
    return openai.AsyncOpenAI(api_key=key, base_url=f"{suite.urls['bots']}/openai/v1", max_retries=0)


class TestOfficialClient:
    async def test_lists_the_bots_and_talks_to_one(self, suite: RunningSuite):
        eliza, dull = await add_bot(suite, "eliza"), await add_bot(suite, "dull")
        async with await _client(suite) as client:
            assert {model.id async for model in client.models.list()} == {eliza, dull}
            assert (await client.models.retrieve("eliza")).id == eliza
            messages: Any = [{"role": "user", "content": "I feel tired."}]
            answer = await client.chat.completions.create(model=eliza, messages=messages, seed=3)
            assert answer.choices[0].finish_reason == "stop"
            text = answer.choices[0].message.content
            stream = await client.chat.completions.create(model="eliza", messages=messages, seed=3, stream=True)
            pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert text
        assert "".join(pieces) == text
        assert len([piece for piece in pieces if piece]) == len(text.split())

    async def test_sends_the_bot_the_whole_conversation(self, suite: RunningSuite):
        async with bot(well_behaved) as (served, url), await _client(suite) as client:
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            parts: Any = [{"type": "text", "text": "How are"}, {"type": "text", "text": " you?"}]
            await client.chat.completions.create(
                model=out["id"],
                messages=[
                    {"role": "system", "content": "You are a gardener."},
                    {"role": "user", "content": "Hello."},
                    {"role": "assistant", "content": "Hi."},
                    {"role": "user", "content": parts},
                    {"role": "user", "content": "Well?"},
                ],
            )
        asked = served.asked[-1]
        assert asked["persona"] == "You are a gardener."
        assert [turn["text"] for turn in asked["turns"]] == ["Hello.", "Hi.", "How are you?\nWell?"]

    async def test_lists_only_the_bots_of_its_team(self, suite: RunningSuite):
        await add_bot(suite, "eliza")
        mine = await created(
            await suite.client("bots", "team", team="us"),
            "/v1/bots",
            {"name": "eliza", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}},
        )
        async with await _client(suite, "team", "us") as client:
            assert [(model.id, model.owned_by) async for model in client.models.list()] == [(mine["id"], "us")]
        async with await _client(suite) as client:
            with pytest.raises(openai.NotFoundError, match="several bots are called 'eliza'"):
                await client.models.retrieve("eliza")

    async def test_gets_errors_in_its_own_form(self, suite: RunningSuite):
        await add_bot(suite, "eliza")
        messages: Any = [{"role": "user", "content": "Hi."}]
        async with await _client(suite) as client:
            with pytest.raises(openai.NotFoundError, match="no bot is called 'nobody'"):
                await client.chat.completions.create(model="nobody", messages=messages)
            with pytest.raises(openai.UnprocessableEntityError, match="last message is the assistant's"):
                await client.chat.completions.create(model="eliza", messages=[{"role": "assistant", "content": "Hi."}])
            with pytest.raises(openai.BadRequestError) as bad:
                await client.chat.completions.create(model="eliza", messages=[])
            assert bad.value.param == "messages"
        async with await _client(suite, "annotation") as client:
            with pytest.raises(openai.PermissionDeniedError):
                await client.models.list()
        url = f"{suite.urls['bots']}/openai/v1"
        async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()

    async def test_gets_an_error_if_the_bot_gave_no_reply(self, suite: RunningSuite):
        down = await created(await suite.client("bots", "admin"), "/v1/bots", webhook("http://127.0.0.1:9/"))
        async with await _client(suite) as client:
            with pytest.raises(openai.InternalServerError, match="circuit_open") as failed:
                await client.chat.completions.create(model=down["id"], messages=[{"role": "user", "content": "Hi."}])
        assert failed.value.status_code == 503
