"""The order and the marks of a campaign's speakers. All figures, tables and pages take both from here."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample, take_sample
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.analytics.speakers import Shape, Speaker

OKABE_ITO: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which the colour-blind can distinguish. Yellow is too pale; black is people's colour."""
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
"""A mark for each round of colours: 36 bots look different, and further ones differ by their names alone."""
PEOPLE: Final = Speaker(
    name=stats.HUMAN, place=None, colour="#333333", colour_dark="#DDDDDD", dash=(4, 4), shape="circle"
)


def speakers_of(sample: Sample, filter_: Filter) -> tuple[Speaker, ...]:
    """Return all speakers of the campaign from which `filter_` took the sample.

    Bots are ordered by their `strengths_of_labels` over annotations of complete packages, or over all annotations if no
    package is complete. So neither order nor colours depend on the filter or the unit of a result. Bots with equal
    rates are ordered by name. Bots without decided games come after them, and people come last.
    """
    standard = ParametersIn().filter
    counted = sample if filter_ == standard else take_sample(sample.labelled, standard)
    if not counted.counts.annotations:
        counted = take_sample(sample.labelled, "none")
    rates = strengths_of_labels(counted.table)
    return by_strength({name for both in sample.labelled.speakers.values() for name in both}, rates)


def strengths_of_labels(table: stats.AnnotationTable) -> dict[str, float]:
    """Return each bot's mean win rate (Eq. 1), NaN without decided games; if no two bots met, its fooling rate."""
    if not table.has_games:
        return {each.bot: each.estimate for each in fooling_rates(table) if each.estimate is not None}
    wins = stats.count_wins(stats.play_games(table))
    return dict(zip(wins.bots, wins.mean_win_rates.tolist(), strict=True))


def by_strength(names: Collection[str], strengths: Mapping[str, float]) -> tuple[Speaker, ...]:
    """Return speakers with their marks: the strongest bot first, equal ones by name, and people last.

    Bots whose strength is unknown or NaN come after the other bots.
    """

    def strength(name: str) -> tuple[bool, float, str]:
        found = strengths.get(name, math.nan)
        return (True, 0.0, name) if math.isnan(found) else (False, -round(found, 12), name)

    people = (PEOPLE,) if stats.HUMAN in names else ()
    return (*marked(sorted(set(names) - {stats.HUMAN}, key=strength)), *people)


def marked(bots: Sequence[str]) -> tuple[Speaker, ...]:
    """Return bots with their places, colours, dashes and shapes. `bots` has their names, the strongest bot first."""
    return tuple(_marked(name, at) for at, name in enumerate(bots))


def _marked(name: str, at: int) -> Speaker:
    dash, shape = _MARKS[at // len(OKABE_ITO) % len(_MARKS)]
    colour = at % len(OKABE_ITO)
    return Speaker(
        name=name, place=at + 1, colour=OKABE_ITO[colour], colour_dark=ON_DARK[colour], dash=dash, shape=shape
    )
