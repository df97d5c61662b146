"""Draws figures as altair charts, for notebooks. `analysis` is a result of `analytics.results.domain.analysis.analyse`.

`theme` is `light` or `dark`; `width` is `wide` (about 720 px) or `narrow` (about 340 px: a phone, a column of a paper).
"""

from typing import Any

import altair as alt

from spotthebot.analytics.figures import comparisons, curves
from spotthebot.analytics.figures.charts import Drawn, FigureInput, Spec
from spotthebot.analytics.figures.features import features
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.results import Analysis


def plot_ranking(analysis: Analysis, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of win rates with intervals, and of the probabilities of ranks."""
    return _chart(comparisons.ranking(FigureInput(analysis, None, theme, width)))


def plot_win_matrix(analysis: Analysis, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of each bot's win rate against each other bot."""
    return _chart(comparisons.win_matrix(FigureInput(analysis, None, theme, width)))


def plot_features(analysis: Analysis, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of win rates by feature, and of the features' hazards."""
    return _chart(features(FigureInput(analysis, None, theme, width)))


def plot_survival(analysis: Analysis, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of the share of bots not yet spotted, over the number of exchanges seen."""
    return _chart(curves.survival(FigureInput(analysis, None, theme, width)))


def plot_segments(analysis: Analysis, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of win rates and shares of labels, over the number of exchanges seen."""
    return _chart(curves.segments(FigureInput(analysis, None, theme, width)))


def plot_stability(analysis: Analysis, stability: Stability, *, theme: Theme = "light", width: Width = "wide") -> Drawn:
    """Return the chart of how stable the ranking is, over the number of conversations."""
    return _chart(curves.stability(FigureInput(analysis, stability, theme, width)))


def _chart(spec: Spec) -> Any:  # noqa: ANN401 - a chart of the kind that the spec is
    return alt.Chart.from_dict(spec)
