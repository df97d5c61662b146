"""Speaks with any server that has OpenAI's chat completions: vLLM, Ollama, llama.cpp, `transformers serve`, others."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.openai_answers import read_completion
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import OpenAIProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut

_PASSED_ON = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "frequency_penalty", "presence_penalty"),
)
_HINTS: Final = (
    (r"max_completion_tokens", "Register it with `max_completion_tokens` in place of `max_tokens`."),
    (
        r"(system|developer)\W+(role|message|prompt|instruction)|(role|message)\W+(system|developer)|must alternate",
        'Register it with `system_role: "user"`.',
    ),
    (r"\bseed\b", "Register it with `sends_seed: false`."),
    (r"max_tokens|maximum context|context length", "Register it with another `max_tokens`."),
    (
        r"\b(temperature|top_p|frequency_penalty|presence_penalty|stop)\b",
        "Register it without the field that it names.",
    ),
)
"""The option that helps if a server refuses a request, by words of the refusal."""
_REFUSED = re.compile(r"It answered 4(?:00|04|13|15|22)\b")
_QUOTED = 180


class OpenAISpeaker(Speaker):
    """Requests replies without streaming.

    The bot's turns have the role assistant, its partner's turns the role user.
    """

    def __init__(self, protocol: OpenAIProtocol, secret: str | None, http: BotHttp) -> None:
        self._protocol = protocol
        self._url = f"{protocol.base_url.rstrip('/')}/chat/completions"
        self._authorization = {"Authorization": f"Bearer {secret}"} if secret else {}
        self._http = http

    async def ask(self, context: Context, key: str) -> ReplyOut:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Idempotency-Key": key,
            **self._authorization,
        }
        body = json.dumps(self._request(context), ensure_ascii=False).encode()
        try:
            answer = await self._http.post(self._url, body, headers)
        except Fault as fault:
            raise _with_hint(fault) from fault
        return read_completion(answer)

    def _request(self, context: Context) -> dict[str, Any]:
        protocol = self._protocol
        asked: dict[str, Any] = {"model": protocol.model, "messages": self._messages(context), "stream": False}
        asked |= {name: value for name in _PASSED_ON if (value := getattr(protocol, name)) is not None}
        if context.temperature is not None:
            asked["temperature"] = context.temperature
        if protocol.stop:
            asked["stop"] = list(protocol.stop)
        if protocol.sends_seed:
            asked["seed"] = context.seed % 2**31  # servers read it into a limited integer
        return asked

    def _messages(self, context: Context) -> list[dict[str, str]]:
        """Return alternating messages. The first is the system's message, if any, and then the user's message."""
        system = "\n\n".join(text for text in (self._protocol.system_prompt, context.persona) if text)
        spoken = list(self._spoken(context))
        if not system:
            return spoken
        if self._protocol.system_role == "user":
            spoken[0]["content"] = f"{system}\n\n{spoken[0]['content']}"
            return spoken
        return [{"role": self._protocol.system_role, "content": system}, *spoken]

    def _spoken(self, context: Context) -> Iterator[dict[str, str]]:
        spoken = list(context.spoken())
        if not spoken or spoken[0][0] == context.side:
            yield {"role": "user", "content": self._protocol.opening_prompt}
        for speaker, text in spoken:
            yield {"role": "assistant" if speaker == context.side else "user", "content": text}


def _with_hint(fault: Fault) -> Fault:
    """Return a server's refusal of a request, with advice on the option that helps, if its words show the problem."""
    if fault.failure is ReplyFailure.HTTP_ERROR and _REFUSED.match(fault.detail):
        for words, hint in _HINTS:
            if re.search(words, fault.detail, re.IGNORECASE):
                return Fault(fault.failure, f"{fault.detail[:_QUOTED].rstrip('.')}. {hint}")
    return fault
