"""Figures of a campaign as Vega-Lite specs with the data inside, and their rendering."""

from collections.abc import Callable, Mapping
from typing import Final

from spotthebot.analytics.figures.charts import FigureInput, Spec
from spotthebot.analytics.figures.comparisons import ranking, win_matrix
from spotthebot.analytics.figures.curves import segments, stability, survival
from spotthebot.analytics.figures.errors import StabilityNotComputed
from spotthebot.analytics.figures.features import features
from spotthebot.analytics.figures.plots import (
    plot_features,
    plot_ranking,
    plot_segments,
    plot_stability,
    plot_survival,
    plot_win_matrix,
)
from spotthebot.analytics.figures.renderer import pdf_of, render
from spotthebot.contracts.analytics.figures import Theme, Width

FIGURES: Final[Mapping[str, Callable[[FigureInput], Spec]]] = {
    "win-matrix": win_matrix,
    "ranking": ranking,
    "survival": survival,
    "features": features,
    "stability": stability,
    "segments": segments,
}
SECTIONS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "win-matrix": ("win-rates", "ranking"),
    "ranking": ("ranking",),
    "survival": ("survival",),
    "features": ("features", "survival"),
    "stability": ("fooling-rates",),
    "segments": ("segments",),
}
"""The sections of the results that each figure shows; that of stability shows counts and speakers, which all have."""

__all__ = [
    "FIGURES",
    "SECTIONS_OF",
    "FigureInput",
    "Spec",
    "StabilityNotComputed",
    "Theme",
    "Width",
    "pdf_of",
    "plot_features",
    "plot_ranking",
    "plot_segments",
    "plot_stability",
    "plot_survival",
    "plot_win_matrix",
    "render",
]
