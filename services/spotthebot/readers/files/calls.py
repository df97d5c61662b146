"""Calls to chat models as tracing tools keep them, and the conversation that the calls of one session make up."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias, TypedDict

from spotthebot.readers.files.messages import spoken

Content: TypeAlias = Mapping[str, object]


class Message(TypedDict):
    """A message of a chat: who said it, and the text."""

    role: str
    content: str


class Call(NamedTuple):
    """A call to a model: when it began (seconds since 1970), the model's name, the messages before it, the reply."""

    at: float
    model: str
    given: list[Message]
    replied: list[Message]


def said_in(calls: Iterable[Call]) -> list[Message] | str:
    """Return the messages of a conversation from its calls, in order of time, or why the calls make up none.

    A call is given all messages before it, or only what was said since the last call.
    """
    said: list[Message] = []
    for call in calls:
        if call.given[: len(said)] == said:
            said = [*call.given]
        elif _is_new_alone(call.given):
            said += [each for each in call.given if each["role"] != "system"]
        else:
            return "its calls do not continue one another: it holds several conversations"
        said += call.replied
    return said


def _is_new_alone(given: Iterable[Message]) -> bool:
    roles = [each["role"] for each in given]
    return roles.count("user") <= 1 and "assistant" not in roles


def messages_of(value: object, role: str) -> list[Message]:
    """Return the messages in what a tool keeps of a call; a text alone was said by `role`. Tool calls are left out."""
    match value:
        case str():
            parsed = _parsed(value)
            return [Message(role=role, content=value)] if parsed is None else messages_of(parsed, role)
        case list():
            return [message for each in value for message in messages_of(each, role)]
        case {"messages": list() as listed}:
            return messages_of(listed, role)
        case {"choices": [{"message": dict() as message}, *_]}:
            return messages_of(message, role)
        case dict():
            text = spoken(value.get("content") or value.get("parts"))
            said_by = value.get("role")
            return [Message(role=said_by if isinstance(said_by, str) else role, content=text)] if text else []
        case _:
            return []


def _parsed(text: str) -> object:
    """Return the messages that a text holds as JSON; None for any other text."""
    if not text.startswith(("[", "{")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    listed = value if isinstance(value, list) else [value]
    keys = {"role", "messages", "choices"}
    return value if listed and all(isinstance(each, dict) and keys & each.keys() for each in listed) else None


def time_of(value: object) -> float:
    """Return a time in ISO 8601 as seconds since 1970; 0 for anything else."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return 0.0
    return 0.0 if found is None else (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def objects(value: object) -> list[Content]:
    """Return the objects of a list; nothing for any other value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def content_of(value: object) -> Content:
    """Return an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}
