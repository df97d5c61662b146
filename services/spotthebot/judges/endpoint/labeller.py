"""Asks a model behind an OpenAI-compatible endpoint, in both orders of the sides, and counts what it costs."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import SecretStr

from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.annotation.judges import EndpointJudge, MissingReason
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.judges.endpoint.cache import AnswerCache, key_of
from spotthebot.judges.endpoint.completions import Completion, completion_of, opinion_by_mark, opinions_in_json
from spotthebot.judges.endpoint.prompts import (
    OPTION_MARKS,
    json_schema,
    prompt_by_mark,
    prompt_in_json,
    system_prompt,
)
from spotthebot.judges.opinions import Asked, Opinion, Opinions, Seen, Usage, average, depends_on_order, swapped

_ATTEMPTS: Final = 5
_LONGEST_WAIT_SECONDS: Final = 120.0
_FIRST_WAIT_SECONDS: Final = 0.5
_MILLION: Final = 1_000_000
_MARK_TOKENS: Final = 8
_TOP: Final = 20


class EndpointLabeller:
    """A version of an endpoint judge. Its key is sent to the endpoint alone, and never kept or logged."""

    def __init__(
        self,
        settings: EndpointJudge,
        key: SecretStr | None,
        http: BotHttp,
        cache: AnswerCache,
        *,
        repeat: int = 1,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._url = f"{settings.base_url.rstrip('/')}/chat/completions"
        self._key = key
        self._http = http
        self._cache = cache
        self._repeat = repeat
        self._sleep = sleep

    async def ask(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        """Return the probabilities of each question; with `swaps_sides` the mean over both orders of the sides."""
        given = await self._ask(seen, asked)
        turned = [each for each in asked if depends_on_order(each)]
        if not self._settings.swaps_sides or not turned:
            return given
        other = await self._ask(seen.swapped, [swapped(each) for each in turned])
        by_key = {each.key: opinion for each, opinion in zip(turned, other.each, strict=True)}
        averaged = [
            average(each, opinion, by_key[each.key]) if each.key in by_key else opinion
            for each, opinion in zip(asked, given.each, strict=True)
        ]
        return Opinions(averaged, given.usage + other.usage)

    async def _ask(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        if self._settings.answers != "log_probabilities":
            return await self._in_json(seen, asked)
        found = [await self._by_mark(seen, each) for each in asked]
        return Opinions([opinion for opinion, _ in found], sum((used for _, used in found), Usage()))

    async def _in_json(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        more: dict[str, Any] = {}
        if self._settings.answers == "json_schema":
            schema = {"name": "answers", "strict": True, "schema": json_schema(asked)}
            more["response_format"] = {"type": "json_schema", "json_schema": schema}
        request = self._request(seen, prompt_in_json(self._settings, seen, asked)) | more
        completion, used = await self._complete(request)
        if isinstance(completion, Opinion):
            return Opinions([completion] * len(asked), used)
        return Opinions(opinions_in_json(completion, asked), used)

    async def _by_mark(self, seen: Seen, asked: Asked) -> tuple[Opinion, Usage]:
        if asked.takes_several or len(asked.options) > len(OPTION_MARKS):
            why = "Log-probabilities answer only questions of which one of few options can be taken."
            return Opinion.lacking(MissingReason.UNSUITED, why), Usage()
        request = self._request(seen, prompt_by_mark(self._settings, seen, asked))
        request |= {"logprobs": True, "top_logprobs": _TOP}
        request[self._settings.max_tokens_field] = min(_MARK_TOKENS, self._settings.max_tokens)
        completion, used = await self._complete(request)
        return (completion if isinstance(completion, Opinion) else opinion_by_mark(completion, asked)), used

    def _request(self, seen: Seen, prompt: str) -> dict[str, Any]:
        settings = self._settings
        system = system_prompt(settings, seen.protocol)
        messages = [{"role": "system", "content": system}] if system else []
        request: dict[str, Any] = {
            "model": settings.model,
            "messages": [*messages, {"role": "user", "content": prompt}],
            settings.max_tokens_field: settings.max_tokens,
        }
        sent = {"temperature": settings.temperature, "seed": settings.seed}
        return request | {name: value for name, value in sent.items() if value is not None}

    async def _complete(self, request: dict[str, Any]) -> tuple[Completion | Opinion, Usage]:
        """Return the model's answer, kept or new, or why there is none, with what it took. Failures are not kept."""
        key = key_of(self._url, request, self._repeat)
        if (kept := await asyncio.to_thread(self._cache.find, key)) is not None:
            return kept, replace(self._usage(kept), paid=0.0, cached=1)
        try:
            completion = await self._try(json.dumps(request, ensure_ascii=False).encode(), key)
        except Fault as fault:
            # Whatever is no chat completion says of the endpoint, not of the dialogue: a wrong URL is no opinion.
            reason = MissingReason.UNPARSABLE if fault.failure is ReplyFailure.EMPTY else MissingReason.FAILED
            return Opinion.lacking(reason, fault.detail), Usage(requests=1)
        await asyncio.to_thread(self._cache.keep, key, completion)
        return completion, self._usage(completion)

    async def _try(self, body: bytes, key: str) -> Completion:
        """Ask until the endpoint answers, as often as it may be asked; waits as long as `Retry-After` says."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with asyncio.timeout(self._settings.answer_seconds):
                    return completion_of(await self._http.post(self._url, body, self._headers(key)))
            except TimeoutError:
                detail = f"No answer came within {self._settings.answer_seconds:g} seconds."
                fault = Fault(ReplyFailure.TIMEOUT, detail, transient=attempt == 1)
            except Fault as failed:
                fault = failed
            wait = fault.retry_after_seconds or _FIRST_WAIT_SECONDS * 2 ** (attempt - 1)
            if not fault.transient or attempt == _ATTEMPTS or wait > _LONGEST_WAIT_SECONDS:
                break
            await self._sleep(wait)
        raise fault

    def _headers(self, key: str) -> Mapping[str, str]:
        secret = {} if self._key is None else {"Authorization": f"Bearer {self._key.get_secret_value()}"}
        return {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Idempotency-Key": key,
            **secret,
        }

    def _usage(self, completion: Completion) -> Usage:
        taken, given = completion.input_tokens, completion.output_tokens
        prices = self._settings.input_price, self._settings.output_price
        cost = None
        if taken is not None and given is not None and prices[0] is not None and prices[1] is not None:
            cost = (taken * prices[0] + given * prices[1]) / _MILLION
        return Usage(taken, given, cost, cost, requests=1)
