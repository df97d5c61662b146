"""The proof for a panel that an annotator's work is done, as a wire type."""

from spotthebot.annotation.entry_links.domain.panels import Completion
from spotthebot.contracts.annotation.panels import CompletionOut


def completion_out(completion: Completion) -> CompletionOut:
    """Convert a completion to its wire type."""
    return CompletionOut(kind=completion.kind, code=completion.code, url=completion.url, fields=dict(completion.fields))
