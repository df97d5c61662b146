"""The order of a campaign's speakers and their marks: the one place from which figures, tables and pages take both."""

import math
from collections.abc import Sequence
from typing import Final

from spotthebot.analytics import stats
from spotthebot.analytics.domain.study import Sample, take_sample
from spotthebot.contracts.analytics.provenance import Filter, ParametersIn
from spotthebot.contracts.analytics.speakers import Shape, Speaker

OKABE_ITO: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which the colour-blind tell apart, without yellow and black: too pale, and people's."""
ON_DARK: Final = ("#4C9FE0", "#F0803C", "#2FC79D", "#E08FC0", "#F5C453", "#A5DBFA")
"""The same hues on a dark background."""
_MARKS: Final[tuple[tuple[tuple[int, ...], Shape], ...]] = (
    ((1, 0), "circle"),
    ((6, 3), "square"),
    ((2, 2), "triangle-up"),
    ((8, 2, 2, 2), "diamond"),
    ((10, 4), "cross"),
    ((8, 2, 2, 2, 2, 2), "triangle-down"),
)
"""One for each round of colours: 36 bots look different, and more are told apart by their names alone."""
PEOPLE: Final = Speaker(
    name=stats.HUMAN, place=None, colour="#333333", colour_dark="#DDDDDD", dash=(4, 4), shape="circle"
)


def speakers_of(sample: Sample, filter_: Filter) -> tuple[Speaker, ...]:
    """Return all speakers of the study from which the sample was taken by a filter.

    Bots stand by mean win rate (Eq. 1) by annotations of complete packages, of all where none is complete: so neither
    order nor colours depend on the filter or the unit of the results beside. Equal rates go by name; bots without
    decided games follow, then people.
    """
    standard = ParametersIn().filter
    counted = sample if filter_ == standard else take_sample(sample.study, standard)
    if not counted.counts.annotations:
        counted = take_sample(sample.study, "none")
    wins = stats.count_wins(stats.play_games(counted.table))
    rates = dict(zip(wins.bots, wins.mean_win_rates.tolist(), strict=True))
    names = {name for both in sample.study.speakers.values() for name in both}

    def strength(name: str) -> tuple[bool, float, str]:
        rate = rates.get(name, math.nan)
        return (True, 0.0, name) if math.isnan(rate) else (False, -round(rate, 12), name)

    people = (PEOPLE,) if stats.HUMAN in names else ()
    return (*marked(sorted(names - {stats.HUMAN}, key=strength)), *people)


def marked(bots: Sequence[str]) -> tuple[Speaker, ...]:
    """Give bots, the strongest first, their places, colours, dashes and shapes."""
    return tuple(_marked(name, at) for at, name in enumerate(bots))


def _marked(name: str, at: int) -> Speaker:
    dash, shape = _MARKS[at // len(OKABE_ITO) % len(_MARKS)]
    colour = at % len(OKABE_ITO)
    return Speaker(
        name=name, place=at + 1, colour=OKABE_ITO[colour], colour_dark=ON_DARK[colour], dash=dash, shape=shape
    )
