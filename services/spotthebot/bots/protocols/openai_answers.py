"""Reads a chat completion: the message's text, and notes on the rest of the answer. Any field may have any type."""

import re
from collections.abc import Mapping
from typing import Any

from spotthebot.bots.outbound import json_of
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote, ReplyOut
from spotthebot.kit.outbound.http import TRANSIENT, Answer, read_json

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
_REASONING_PART = re.compile(r"think|reason|thought|analysis|summary", re.IGNORECASE)
_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
_EVENT = re.compile(r"\r\n?|\n")
_LIMITED = 429
_LIMITED_WORDS = re.compile(r"rate.?limit|too.?many.?requests|throttl|resource.?exhausted", re.IGNORECASE)
_ERRORS_FROM = 400
_FIELDS = ("code", "status", "statusCode", "status_code", "type", "message", "detail")


def read_completion(answer: Answer) -> ReplyOut:
    """Return the text of a completion; raises Fault. Also reads streams of servers that always stream."""
    completion = _collected(answer) if answer.media_type == "text/event-stream" else json_of(answer)
    choice, message = _message(completion, answer.retry_after_seconds)
    content, notes = _content(message.get("content"))
    finish = choice.get("finish_reason")
    reasoned = [name for name in _REASONING_FIELDS if message.get(name)]
    if reasoned:
        notes.add(ReplyNote.REASONING)
    if isinstance(finish, str) and finish in _CUT:
        notes.add(ReplyNote.CUT)
    why_empty = None if content.strip() else _why_empty(message, finish, reasoned)
    return ReplyOut.said(content, tuple(sorted(notes)), detail=why_empty)


def _message(
    completion: Any,  # noqa: ANN401 - JSON
    retry_after_seconds: float | None,
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = completion.get("choices") if isinstance(completion, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and isinstance(message, dict) and ("content" in message or not choice.get("error")):
        return choice, message
    fault = fault_inside(completion, retry_after_seconds) or fault_inside(choice, retry_after_seconds)
    raise fault or Fault(
        ReplyFailure.INVALID, "The answer is not a chat completion: it has no choices[0].message.content."
    )


def _content(content: Any) -> tuple[str, set[ReplyNote]]:  # noqa: ANN401 - JSON
    """Return a message's text, joined from its parts if it has parts, and without parts that hold reasoning."""
    if content is None:
        return "", set()
    if isinstance(content, str):
        return content, set()
    if not isinstance(content, list):
        raise Fault(ReplyFailure.INVALID, f"The message's content is {type(content).__name__}, not a string.")
    texts: list[str] = []
    notes: set[ReplyNote] = set()
    for number, part in enumerate(content):
        if not isinstance(part, dict):
            raise Fault(ReplyFailure.INVALID, f"The content's part {number} is {type(part).__name__}, not an object.")
        if part.get("thought") is True or _REASONING_PART.search(str(part.get("type"))[:50]):
            notes.add(ReplyNote.REASONING)
            continue
        text = part.get("text")
        if text is not None and not isinstance(text, str):
            detail = f"The text of the content's part {number} is {type(text).__name__}, not a string."
            raise Fault(ReplyFailure.INVALID, detail)
        texts.append(text or "")
    return "".join(texts), notes


def _why_empty(message: Mapping[str, Any], finish: object, reasoned: list[str]) -> str | None:
    said = [f"finish_reason is {finish}"] if finish else []
    if refusal := message.get("refusal") or _refusal_in_parts(message.get("content")):
        said.append(f"it refuses ({refusal})")
    if message.get("tool_calls") or message.get("function_call"):
        said.append("it calls a tool, which nobody answers")
    if reasoned:
        said.append(f"its reasoning stands in {reasoned[0]} alone: raise `max_tokens`, or switch reasoning off")
    return "; ".join(said) or None


def _refusal_in_parts(content: object) -> object:
    parts = content if isinstance(content, list) else []
    return next((part["refusal"] for part in parts if isinstance(part, dict) and part.get("refusal")), None)


def _collected(answer: Answer) -> dict[str, Any]:
    """Return the completion that server-sent events form together; raises Fault if the stream breaks off."""
    text: list[str] = []
    message: dict[str, Any] = {}
    finish: object = None
    is_whole = False
    for line in _EVENT.split(answer.body.decode("utf-8-sig", "replace")):
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            is_whole = True
        if not data or data == "[DONE]":
            continue
        try:
            chunk = read_json(data)
        except ValueError as error:
            raise Fault(ReplyFailure.INVALID, f"An event of the stream is not JSON: {error}.") from error
        if fault := fault_inside(chunk, answer.retry_after_seconds):
            raise fault
        choices = chunk.get("choices") if isinstance(chunk, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        if isinstance(delta, dict):
            text.append(_content(delta.get("content"))[0])
            message |= {name: True for name in _REASONING_FIELDS if delta.get(name)}
        finish = choice.get("finish_reason") or finish
    if not is_whole and finish is None:
        raise Fault(ReplyFailure.INVALID, "The stream ended before the reply was complete.", transient=True)
    return {"choices": [{"message": message | {"content": "".join(text)}, "finish_reason": finish}]}


def fault_inside(answer: Any, retry_after_seconds: float | None = None) -> Fault | None:  # noqa: ANN401 - JSON
    """Return the fault for an answer's `error`, with its `Retry-After`; None without an error.

    Some servers answer with the error itself (`{"object": "error", "message": ..., "code": ...}`). A rate limit is
    recognised by status 429 in a field of the error, or by words in it, such as `rate_limit_exceeded`.
    """
    if not isinstance(answer, dict):
        return None
    inside = answer.get("error") or (answer if _is_error(answer) else None)
    if not inside:
        return None
    facts = inside if isinstance(inside, dict) else {}
    codes = [facts.get(name, answer.get(name)) for name in _FIELDS] + [inside]
    numbers = {_status(code) for code in codes}
    detail = f"The answer holds an error instead of a reply: {inside}."
    if _LIMITED in numbers or any(map(_names_limit, codes)):
        return Fault(ReplyFailure.RATE_LIMITED, detail, transient=True, retry_after_seconds=retry_after_seconds)
    if numbers & TRANSIENT:
        return Fault(ReplyFailure.HTTP_ERROR, detail, transient=True, retry_after_seconds=retry_after_seconds)
    return Fault(ReplyFailure.INVALID, detail)


def _status(code: object) -> int:
    """Return the HTTP status that a field names as a number or in digits; 0 if it names none."""
    if isinstance(code, str):
        return int(code) if len(code) == 3 and code.isascii() and code.isdigit() else 0
    return int(code) if isinstance(code, int | float) and 100 <= code < 600 else 0


def _names_limit(code: object) -> bool:
    return isinstance(code, str) and _LIMITED_WORDS.search(code) is not None


def _is_error(answer: dict[str, Any]) -> bool:
    """Return whether an answer without an `error` is an error itself."""
    values = [answer.get(name) for name in _FIELDS]
    return answer.get("object") == "error" or any(
        _names_limit(value) or _status(value) >= _ERRORS_FROM for value in values
    )
