"""Settings that are one of a few words, such as `clusters` or `adjustment`."""

from enum import StrEnum
from typing import TypeVar

from spotthebot.statistics.errors import SettingOutOfRange

Choice = TypeVar("Choice", bound=StrEnum)


def choice_of(setting: str, value: Choice, kind: type[Choice]) -> Choice:
    """Return the member of `kind` that a caller chose, as a member or as its word. Raises `SettingOutOfRange`.

    >>> from spotthebot.statistics.uncertainty import Clusters
    >>> choice_of("clusters", "annotator", Clusters)
    <Clusters.ANNOTATOR: 'annotator'>
    """
    try:
        return kind(value)
    except ValueError:
        raise SettingOutOfRange(setting=setting, allowed=f"one of {', '.join(kind)}", value=value) from None
