"""Reads a model's answer: stated probabilities in JSON, or the log-probabilities of option marks. Any field may lie."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotthebot.bots.outbound import json_of
from spotthebot.bots.protocols.openai_answers import read_completion
from spotthebot.bots.questions.domain.answer_parts import LONGEST_ANSWER, take_apart
from spotthebot.contracts.annotation.judges import MissingReason
from spotthebot.judges.endpoint.prompts import OPTION_MARKS
from spotthebot.judges.opinions import Asked, Opinion
from spotthebot.kit.outbound.http import Answer, read_json

_ROUNDING: Final = 0.05
"""How far stated probabilities may be from a sum of 1 before they are nonsense; within it they are scaled."""
_LEAST_MASS: Final = 0.5
"""The least probability that the marks of options have together; below it the model answers something else."""
_REFUSAL: Final = re.compile(
    r"\s*(?:i(?:'|\u2019)?m (?:sorry|unable|not able)|sorry\b|as an ai\b|unfortunately, i"
    r"|i (?:can(?:'|\u2019)?t|cannot|can not|won(?:'|\u2019)t|must decline))",
    re.IGNORECASE,
)
_FILTERED: Final = "content_filter"


@dataclass(frozen=True)
class Completion:
    """What a cache keeps of an answer: its text without reasoning, the token alternatives, tokens used.

    `refused` says in which words the server states a refusal; `tokens` has for each token of the answer its
    alternatives with their log-probabilities.
    """

    text: str
    refused: str | None
    tokens: tuple[tuple[tuple[str, float], ...], ...]
    input_tokens: int | None
    output_tokens: int | None


def completion_of(answer: Answer) -> Completion:
    """Return an endpoint's answer without its reasoning; raises Fault if it is no chat completion."""
    said = read_completion(answer)
    whole = {} if answer.media_type == "text/event-stream" else json_of(answer)
    choice = _first(whole.get("choices"))
    message, usage = _mapping(choice.get("message")), _mapping(whole.get("usage"))
    text = said.text or ""
    refused = message.get("refusal") or (_FILTERED if choice.get("finish_reason") == _FILTERED else None)
    if refused is None and not text.strip() and said.detail and "it refuses" in said.detail:
        refused = said.detail
    return Completion(
        text=take_apart(text).reply if len(text) <= LONGEST_ANSWER else "",
        refused=None if refused is None else str(refused)[:200],
        tokens=_tokens(_mapping(choice.get("logprobs")).get("content")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def opinions_in_json(completion: Completion, asked: Sequence[Asked]) -> list[Opinion]:
    """Return the probabilities that an answer in JSON states for each question, or why there are none."""
    if (refusal := _refusal(completion)) is not None:
        return [refusal] * len(asked)
    begin, end = completion.text.find("{"), completion.text.rfind("}")
    try:
        stated = read_json(completion.text[begin : end + 1]) if 0 <= begin < end else None
    except ValueError:
        stated = None
    if not isinstance(stated, dict):
        return [_unparsable(f"The answer holds no JSON object: {_quoted(completion.text)}")] * len(asked)
    return [_stated(each, stated.get(f"q{number}")) for number, each in enumerate(asked, 1)]


def opinion_by_mark(completion: Completion, asked: Asked) -> Opinion:
    """Return the probabilities of the options' marks at the first token that is a mark, or why there are none."""
    if (refusal := _refusal(completion)) is not None:
        return refusal
    marks = dict(zip(OPTION_MARKS, asked.options, strict=False))
    for alternatives in completion.tokens:
        if not alternatives or not alternatives[0][0].strip():
            continue
        shares = dict.fromkeys(asked.options, 0.0)
        for token, log_probability in alternatives:
            if (option := marks.get(token.strip().lower())) is not None:
                shares[option] += math.exp(log_probability)
        mass = math.fsum(shares.values())
        if mass < _LEAST_MASS:
            return _unparsable(f"The marks of options have {mass:.0%} of the probability: {_quoted(completion.text)}")
        return Opinion({option: share / mass for option, share in shares.items()})
    if completion.text.strip():
        return _unparsable(f"The answer has no log-probabilities: {_quoted(completion.text)}")
    return _unparsable("The answer is empty.")


def _refusal(completion: Completion) -> Opinion | None:
    if completion.refused is not None or _REFUSAL.match(completion.text):
        return Opinion.lacking(
            MissingReason.REFUSED, f"The model refuses: {_quoted(completion.refused or completion.text)}"
        )
    return None


def _stated(asked: Asked, given: object) -> Opinion:
    """Return the probabilities stated for one question; percentages and small errors of rounding are accepted."""
    if not isinstance(given, dict):
        return _unparsable("The answer lacks this question.")
    shares = {option: _number(given.get(option)) for option in asked.options}
    lacking = [option for option, share in shares.items() if share is None]
    if lacking:
        return _unparsable(f"The answer has no probability of '{lacking[0]}'.")
    numbers = {option: share for option, share in shares.items() if share is not None}
    if asked.takes_several:
        return Opinion(numbers) if max(numbers.values()) <= 1 else _unparsable("A probability is above 1.")
    total = math.fsum(numbers.values())
    scale = 100 if abs(total - 100) <= 100 * _ROUNDING else 1
    if abs(total / scale - 1) > _ROUNDING:
        return _unparsable(f"The probabilities sum to {total:.3g}, not to 1.")
    return Opinion({option: share / total for option, share in numbers.items()})


def _number(given: object) -> float | None:
    """Return a finite number that is not negative; None for anything else."""
    try:
        number = float(given) if isinstance(given, int | float | str) and not isinstance(given, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _unparsable(detail: str) -> Opinion:
    return Opinion.lacking(MissingReason.UNPARSABLE, detail)


def _quoted(text: str) -> str:
    return " ".join(text.split())[:100] or "it is empty."


def _tokens(content: object) -> tuple[tuple[tuple[str, float], ...], ...]:
    tokens = content[:20] if isinstance(content, list) else []
    return tuple(_alternatives(_mapping(each)) for each in tokens)


def _alternatives(token: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return a token and its alternatives, each once, most probable first."""
    top = token.get("top_logprobs")
    found = [token, *(map(_mapping, top[:50]) if isinstance(top, list) else [])]
    known = {
        each["token"]: float(each["logprob"])
        for each in found
        if isinstance(each.get("token"), str) and isinstance(each.get("logprob"), int | float) and each["logprob"] <= 0
    }
    return tuple(sorted(known.items(), key=lambda item: -item[1]))


def _first(choices: object) -> Mapping[str, Any]:
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else None
