"""The texts in messages of chat models: a text, or parts, some of which are texts.

https://platform.openai.com/docs/api-reference/chat/create (parts of `content`, `tool_calls`) and
https://docs.anthropic.com/en/api/messages (content blocks). The partner does not read images, tool calls and reasoning.
So only texts are kept, never the JSON around them.
"""

import json
from collections.abc import Mapping
from typing import Final

from spotthebot.readers.files.exports import text_of

_TEXTS: Final = (None, "text", "input_text", "output_text")
"""The types of parts that hold a text; `None` is a part without a type."""
_CALLS: Final = ("tool_calls", "function_call")


def spoken(content: object) -> str:
    """Return the text of a message's content: each of its text parts on a line."""
    match content:
        case list():
            return "\n".join(filter(None, map(spoken, content)))
        case dict():
            return _text_of_part(content)
        case _:
            return text_of(content)


def spoken_in_cell(cell: str) -> str:
    """Return the text of a cell, which may hold the parts of a message as JSON."""
    if not cell.startswith(("[", "{")):
        return cell
    try:
        content = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    parts = content if isinstance(content, list) else [content]
    typed = all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)
    return spoken(parts) if parts and typed else cell


def calls_tool(message: Mapping[str, object]) -> bool:
    """Return whether a message has no text and calls a tool."""
    return any(message.get(name) for name in _CALLS) and not spoken(message.get("content"))


def _text_of_part(part: Mapping[str, object]) -> str:
    if part.get("type") not in _TEXTS:
        return ""
    text = part.get("text", part.get("content", part.get("parts")))
    return spoken(text.get("value") if isinstance(text, dict) else text)
