"""Makes results in the forms that ABC-Eval prints, from how often each value was given."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from spotthebot.analytics.stats.means import Mean, student_interval
from spotthebot.analytics.stats.proportions import Proportion, wilson_interval
from spotthebot.contracts.analytics.measures import PublishedForm, ValueCount
from spotthebot.contracts.annotation.measures import MeasureKind

_METHODS: Final[Mapping[MeasureKind, str]] = {
    "scale": "mean with Student's t interval, all values taken as independent (ABC-Eval, Figures 6 and 8)",
    "share": "share with Wilson's interval, all values taken as independent (ABC-Eval, Figures 4 and 5)",
    "preference": "shares of wins, ties and losses, each with Wilson's interval, all comparisons taken as independent"
    " (ABC-Eval, Figure 7)",
}
_WIN, _TIE, _LOSS = 1.0, 0.5, 0.0


def published_form(
    kind: MeasureKind, counts: Sequence[ValueCount], mean_of_means: float | None, confidence_level: float
) -> PublishedForm:
    """Return the published form of a bot's result by a measure of this kind.

    `counts` has how often each value was given. The values of a share are 0 and 1. `mean_of_means` is its mean over
    dialogues; it has no meaning for a preference.
    """
    given = {each.value: each.n for each in counts}
    if kind == "preference":
        return published_wins(given.get(_WIN, 0), given.get(_TIE, 0), given.get(_LOSS, 0), confidence_level)
    found: Proportion | Mean
    if kind == "share":
        found = wilson_interval(given.get(1.0, 0), sum(given.values()), confidence_level=confidence_level)
        reason = None
    else:
        found = student_interval(np.repeat(list(given), list(given.values())), confidence_level=confidence_level)
        reason = found.reason
    more = {"tie": None, "loss": None, "mean_of_means": mean_of_means, "reason": reason}
    return PublishedForm.of(found, method=_METHODS[kind], **more)


def published_wins(wins: int, ties: int, losses: int, confidence_level: float) -> PublishedForm:
    """Return the published form of comparisons: the shares of wins, ties and losses, each with its interval."""
    n = wins + ties + losses
    win, tie, loss = (wilson_interval(count, n, confidence_level=confidence_level) for count in (wins, ties, losses))
    reason = None if n else "nobody compared the two"
    more = {"tie": tie, "loss": loss, "mean_of_means": None, "reason": reason}
    return PublishedForm.of(win, method=_METHODS["preference"], **more)
