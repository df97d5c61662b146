"""What marks bots and people: a colour and a shape each, the same in every figure, table and page of a campaign."""

from collections.abc import Iterable

from spotthebot.contracts.analytics.speakers import Speaker


def marks_of(speakers: Iterable[Speaker]) -> dict[str, Speaker]:
    """Return speakers by their names."""
    return {each.name: each for each in speakers}
