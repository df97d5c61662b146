"""The pool behind OpenAI's API: any client of it can talk to any bot that its key may use."""

from typing import Any

import pytest

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.lazy_imports import lazily
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created

openai = lazily("openai")


async def _client(suite: RunningSuite, role: str = "admin", team: str | None = None) -> Any:
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


class TestLimits:
    """`max_tokens`, `stop`, `temperature` and `usage`, which clients of OpenAI's API send and read."""

    SAID = "Well, I like green tea. And you? I am glad that you ask."
    QUESTION: Any = ({"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tea or coffee?"})

    async def test_the_reply_is_cut_where_the_request_says(self, suite: RunningSuite):
        cases: list[tuple[dict[str, Any], str, str]] = [
            ({}, self.SAID, "stop"),
            ({"max_tokens": 4}, "Well, I like", "length"),
            ({"max_completion_tokens": 7}, "Well, I like green tea.", "length"),
            ({"max_tokens": 100}, self.SAID, "stop"),
            ({"stop": "And"}, "Well, I like green tea. ", "stop"),
            ({"stop": ["glad", "you", "nowhere"]}, "Well, I like green tea. And ", "stop"),
            ({"stop": ["Well"]}, "", "stop"),
            ({"stop": "you", "max_tokens": 2}, "Well,", "length"),
        ]
        async with bot(lambda _: {"text": self.SAID}) as (_, url), await _client(suite) as client:
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            for more, text, reason in cases:
                answer = await client.chat.completions.create(model=out["id"], messages=self.QUESTION, **more)
                choice = answer.choices[0]
                assert (choice.message.content, choice.finish_reason) == (text, reason), more

    async def test_usage_counts_words_and_punctuation_marks(self, suite: RunningSuite):
        async with bot(lambda _: {"text": self.SAID}) as (_, url), await _client(suite) as client:
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook(url))
            answer = await client.chat.completions.create(model=out["id"], messages=self.QUESTION, max_tokens=9)
            assert answer.usage is not None
            counts = (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens)
            assert counts == (3 + 4, 9, 16)  # Be kind . | Tea or coffee ?
            options: Any = {"include_usage": True}
            stream = await client.chat.completions.create(
                model=out["id"], messages=self.QUESTION, max_tokens=9, stream=True, stream_options=options
            )
            chunks = [chunk async for chunk in stream]
            pieces = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
            assert "".join(pieces) == answer.choices[0].message.content
            assert chunks[-2].choices[0].finish_reason == "length"
            assert (chunks[-1].choices, chunks[-1].usage) == ([], answer.usage)

    async def test_a_temperature_reaches_the_server_of_a_bot_that_has_one(self, suite: RunningSuite):
        said = {"choices": [{"message": {"content": "Hello, nice to meet you."}}]}
        async with bot(lambda _: said) as (served, url), await _client(suite) as client:
            protocol = {"kind": "openai", "base_url": url, "model": "m", "temperature": 0.8}
            out = await created(await suite.client("bots", "admin"), "/v1/bots", webhook("") | {"protocol": protocol})
            cases: list[tuple[dict[str, Any], float]] = [
                ({}, 0.8),
                ({"temperature": 0.0}, 0),
                ({"temperature": 1.5}, 1.5),
            ]
            for more, expected in cases:
                await client.chat.completions.create(model=out["id"], messages=self.QUESTION, **more)
                assert served.asked[-1]["temperature"] == expected

    async def test_a_temperature_is_refused_where_the_bot_has_none(self, suite: RunningSuite):
        eliza = await add_bot(suite, "eliza")
        async with await _client(suite) as client:
            with pytest.raises(openai.UnprocessableEntityError, match="has no temperature") as refused:
                await client.chat.completions.create(model=eliza, messages=self.QUESTION, temperature=0.5)
            assert refused.value.param == "temperature"
            assert (await client.chat.completions.create(model=eliza, messages=self.QUESTION, temperature=1)).choices

    @pytest.mark.parametrize(
        "more", [{"max_tokens": 0}, {"stop": ""}, {"stop": ["a"] * 5}, {"temperature": 3}, {"stop": "a\x00"}]
    )
    async def test_values_out_of_range_are_refused(self, suite: RunningSuite, more: dict[str, Any]):
        eliza = await add_bot(suite, "eliza")
        async with await _client(suite) as client:
            with pytest.raises(openai.BadRequestError) as bad:
                await client.chat.completions.create(model=eliza, messages=self.QUESTION, **more)
        assert (bad.value.param or "").startswith(next(iter(more)))

    async def test_messages_that_no_bot_can_be_shown_are_refused(self, suite: RunningSuite):
        eliza = await add_bot(suite, "eliza")
        async with await _client(suite) as client:
            messages: Any = [{"role": "user", "content": "a" * 20_001}]
            with pytest.raises(openai.UnprocessableEntityError, match="can't be shown to a bot"):
                await client.chat.completions.create(model=eliza, messages=messages)
