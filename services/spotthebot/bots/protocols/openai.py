"""Any server with OpenAI's chat completions: vLLM, Ollama, llama.cpp, TGI, `transformers serve`, commercial ones."""

import json
from collections.abc import Iterator
from typing import Any

from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.replies import Fault
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.contracts.bots import OpenAIProtocol, ReplyFailure

_PASSED_ON = ("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty")


class OpenAISpeaker(Speaker):
    """Asks without streaming; the bot's own turns are the assistant's, its partner's the user's."""

    def __init__(self, protocol: OpenAIProtocol, secret: str | None, http: BotHttp) -> None:
        self._protocol = protocol
        self._url = f"{protocol.base_url.rstrip('/')}/chat/completions"
        self._authorization = {"Authorization": f"Bearer {secret}"} if secret else {}
        self._http = http

    async def ask(self, context: Context, key: str) -> str:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Idempotency-Key": key,
            **self._authorization,
        }
        body = json.dumps(self._request(context), ensure_ascii=False).encode()
        return _content((await self._http.post(self._url, body, headers)).json())

    def _request(self, context: Context) -> dict[str, Any]:
        protocol = self._protocol
        asked: dict[str, Any] = {"model": protocol.model, "messages": list(self._messages(context)), "stream": False}
        asked |= {name: value for name in _PASSED_ON if (value := getattr(protocol, name)) is not None}
        if context.temperature is not None:
            asked["temperature"] = context.temperature
        if protocol.stop:
            asked["stop"] = list(protocol.stop)
        if protocol.sends_seed:
            asked["seed"] = context.seed % 2**31  # servers read it into an int of their own
        return asked

    def _messages(self, context: Context) -> Iterator[dict[str, str]]:
        system = "\n\n".join(text for text in (self._protocol.system_prompt, context.persona) if text)
        if system:
            yield {"role": "system", "content": system}
        spoken = list(context.spoken())
        if not spoken or spoken[0][0] == context.side:
            yield {"role": "user", "content": self._protocol.opening_prompt}
        for speaker, text in spoken:
            yield {"role": "assistant" if speaker == context.side else "user", "content": text}


def _content(answer: Any) -> str:  # noqa: ANN401 - JSON
    try:
        content = answer["choices"][0]["message"]["content"]
    except (LookupError, TypeError) as error:
        inside = answer.get("error") if isinstance(answer, dict) else None
        said = f"it answers with an error: {inside}" if inside else "it has no choices[0].message.content"
        raise Fault(ReplyFailure.INVALID, f"The answer is no chat completion: {said}.") from error
    if content is None:
        return ""
    if isinstance(content, list):  # parts, as some servers give
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise Fault(ReplyFailure.INVALID, f"The message's content is {type(content).__name__}, not a string.")
    return content
