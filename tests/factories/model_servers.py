"""Language models for tests: OpenAI-compatible endpoints on loopback whose answers a test writes."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from tests.factories.bot_servers import Answer

USAGE = {"prompt_tokens": 100, "completion_tokens": 20}
Shares = Callable[[str, tuple[str, ...]], Mapping[str, float]]
"""The probabilities of a question's options, from its text in the prompt and the options."""


def completion(content: str | None, *, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Write a chat completion with this text."""
    message = {"role": "assistant", "content": content} | more.pop("message", {})
    choice = {"index": 0, "message": message, "finish_reason": finish} | more
    return {"object": "chat.completion", "choices": [choice], "usage": USAGE}


def states(shares: Shares) -> Answer:
    """Answer by the request's JSON Schema, with these probabilities for each question."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        prompt = request["messages"][-1]["content"]
        schema = request["response_format"]["json_schema"]["schema"]["properties"]
        stated = {key: dict(shares(_block(prompt, key), tuple(asked["properties"]))) for key, asked in schema.items()}
        return completion(json.dumps(stated))

    return answer


def marks(shares: Mapping[str, float], *, before: str = "") -> Answer:
    """Answer with one token, whose alternatives have these probabilities by mark."""
    top: list[dict[str, Any]] = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
    token = max(top, key=lambda each: float(each["logprob"]))
    first = [{"token": before, "logprob": 0.0, "top_logprobs": [{"token": before, "logprob": 0.0}]}] if before else []

    def answer(_request: dict[str, Any]) -> dict[str, Any]:
        return completion(token["token"], logprobs={"content": [*first, token | {"top_logprobs": top}]})

    return answer


def _block(prompt: str, key: str) -> str:
    """Return a question as it stands in a prompt, with its options."""
    return prompt.rpartition(f"\n{key}: ")[2].partition("\n\n")[0]
