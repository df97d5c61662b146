"""An importer of a plug-in: its function `read(path)` yields conversations as the API takes them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.kit.plugins import Plugin
from spotthebot.kit.text.validation import faults_of
from spotthebot.readers.rejected import Rejected


def read_by_plugin(plugin: Plugin, path: Path) -> Iterator[ConversationIn | Rejected]:
    """Yield the conversations of a file, and the rejected ones with the reasons; raises PluginFails."""
    found = plugin.function("read")(path)
    advance = getattr(iter(found) if hasattr(found, "__iter__") else None, "__next__", None)
    if advance is None:
        raise plugin.fails(reason=f"read returned {type(found).__name__} in place of conversations")
    number = 0
    while True:
        try:
            each = advance()
        except StopIteration:
            return
        except Exception as error:
            raise plugin.fails(reason=f"read failed, {type(error).__name__}: {error}") from error
        number += 1
        if not isinstance(each, Mapping):
            raise plugin.fails(reason=f"read yielded {type(each).__name__} in place of an object")
        try:
            yield ConversationIn.model_validate(dict(each))
        except ValidationError as error:
            yield Rejected(f"conversation '{each.get('external_id', number)}'", number, faults_of(error)[0])
