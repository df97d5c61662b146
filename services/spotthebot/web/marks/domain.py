"""The mark of a speaker is a colour and a shape, which are the same on all pages and figures of a campaign."""

from collections.abc import Iterable

from spotthebot.contracts.analytics.speakers import Speaker


def marks_of(speakers: Iterable[Speaker]) -> dict[str, Speaker]:
    """Return the speakers with their marks, by the speakers' names."""
    return {each.name: each for each in speakers}
