"""The figures as altair charts, for notebooks: `spotthebot.analytics.domain.analysis.analyse` makes what they show."""

from typing import Any

import altair as alt

from spotthebot.analytics.figures import comparisons, curves
from spotthebot.analytics.figures.charts import Drawn, FigureInput, Spec
from spotthebot.contracts.analytics import Analysis, Stability


def plot_ranking(analysis: Analysis) -> Drawn:
    """Return the chart of win rates with intervals and of the probabilities of ranks."""
    return _chart(comparisons.ranking(FigureInput(analysis, None)))


def plot_win_matrix(analysis: Analysis) -> Drawn:
    """Return the chart of each bot's win rate against each other."""
    return _chart(comparisons.win_matrix(FigureInput(analysis, None)))


def plot_features(analysis: Analysis) -> Drawn:
    """Return the chart of win rates by feature and of the features' hazards."""
    return _chart(comparisons.features(FigureInput(analysis, None)))


def plot_survival(analysis: Analysis) -> Drawn:
    """Return the chart of the share not yet spotted over the exchanges seen."""
    return _chart(curves.survival(FigureInput(analysis, None)))


def plot_segments(analysis: Analysis) -> Drawn:
    """Return the chart of win rates and labels over the exchanges seen."""
    return _chart(curves.segments(FigureInput(analysis, None)))


def plot_stability(analysis: Analysis, stability: Stability) -> Drawn:
    """Return the chart of how many conversations a stable ranking needs."""
    return _chart(curves.stability(FigureInput(analysis, stability)))


def _chart(spec: Spec) -> Any:  # noqa: ANN401 - a chart of the kind that the spec is
    return alt.Chart.from_dict(spec)
