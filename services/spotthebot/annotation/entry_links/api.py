"""How an annotator shows a panel that work is done, as answers have it."""

from spotthebot.annotation.entry_links.domain.panels import Completion
from spotthebot.contracts.annotation.panels import CompletionOut


def completion_out(completion: Completion) -> CompletionOut:
    """Shape a completion."""
    return CompletionOut(kind=completion.kind, code=completion.code, url=completion.url, fields=dict(completion.fields))
