"""Calls to models in spans of OpenTelemetry's `gen_ai` conventions, in any of the three forms that its versions had."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from spotthebot.readers.files.calls import Call, Content, Message, content_of, messages_of, objects
from spotthebot.readers.files.exports import text_of

_CALLS: Final = frozenset({"chat", "generate_content", "text_completion"})
_NUMBERED: Final = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(role|content)")
_EVENT: Final = re.compile(r"gen_ai\.(system|user|assistant)\.message")
_CHOICE: Final = "gen_ai.choice"
_DETAILS: Final = "gen_ai.client.inference.operation.details"


def calls_of_spans(contents: Iterable[Content]) -> Iterator[tuple[str, Call]]:
    """Yield the calls with messages, each with its conversation: `gen_ai.conversation.id`, or the trace.

    A span of an agent repeats what the calls below it hold, so it counts only in a conversation without such calls.
    """
    found: dict[str, list[tuple[bool, Call]]] = {}
    for span in _spans(contents):
        held = _attributes(span.get("attributes"))
        for event in objects(span.get("events")):
            if event.get("name") == _DETAILS:
                held |= _attributes(event.get("attributes"))
        given, replied = _messages(held, objects(span.get("events")))
        if not given and not replied:
            continue
        name = text_of(held.get("gen_ai.conversation.id")) or text_of(span.get("traceId"))
        model = held.get("gen_ai.agent.name") or held.get("gen_ai.request.model") or held.get("gen_ai.response.model")
        nanoseconds = text_of(span.get("startTimeUnixNano"))
        at = int(nanoseconds) / 1e9 if nanoseconds.isdecimal() else 0.0
        of_model = held.get("gen_ai.operation.name", "chat") in _CALLS
        found.setdefault(name, []).append((of_model, Call(at, text_of(model), given, replied)))
    for name, calls in found.items():
        chosen = [call for of_model, call in calls if of_model] or [call for _, call in calls]
        yield from ((name, call) for call in chosen)


def _spans(contents: Iterable[Content]) -> Iterator[Content]:
    for content in contents:
        for resource in objects(content.get("resourceSpans")):
            for scope in objects(resource.get("scopeSpans")):
                yield from objects(scope.get("spans"))


def _messages(held: dict[str, object], events: Iterable[Content]) -> tuple[list[Message], list[Message]]:
    given = messages_of(held.get("gen_ai.input.messages"), "user")
    replied = messages_of(held.get("gen_ai.output.messages"), "assistant")
    if given or replied:
        return given, replied
    numbered = sorted((match for key in held if (match := _NUMBERED.fullmatch(key))), key=lambda each: int(each[2]))
    if numbered:
        return _numbered(held, numbered, "prompt", "user"), _numbered(held, numbered, "completion", "assistant")
    for event in events:
        name, held_by_event = text_of(event.get("name")), _attributes(event.get("attributes"))
        if match := _EVENT.fullmatch(name):
            given += messages_of({"role": match[1], **held_by_event}, match[1])
        elif name == _CHOICE:
            replied += messages_of(held_by_event.get("message", held_by_event.get("content")), "assistant")
    return given, replied


def _numbered(held: dict[str, object], keys: Iterable["re.Match[str]"], kind: str, role: str) -> list[Message]:
    of: dict[str, dict[str, object]] = {}
    for match in keys:
        if match[1] == kind:
            of.setdefault(match[2], {"role": role})[match[3]] = held[match[0]]
    return messages_of([*of.values()], role)


def _attributes(value: object) -> dict[str, object]:
    return {text_of(each.get("key")): _value(content_of(each.get("value"))) for each in objects(value)}


def _value(held: Content) -> object:
    """Return the value of an attribute in the JSON of OTLP."""
    match held:
        case {"arrayValue": dict() as array}:
            return [_value(each) for each in objects(array.get("values"))]
        case {"kvlistValue": dict() as pairs}:
            return _attributes(pairs.get("values"))
        case _:
            return next(iter(held.values()), None)
