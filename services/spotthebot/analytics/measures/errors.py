"""The errors of measures that a campaign or a study lacks.

NotFound
└── NoSuchMeasure
Conflict
├── NothingToMeasure
└── TooManyValues
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchMeasure(NotFound):
    """'{campaign}' has no measure '{measure}': there are {known}."""


class NothingToMeasure(Conflict):
    """'{campaign}' asks for free text alone, which measures no bot: export its annotations instead."""


class TooManyValues(Conflict):
    """'{source}' has more than {most:,} values, too many to hold at once: export annotations, campaign by campaign."""
