"""The catalogue of figures: for each name the function that draws it, and the sections of the results that it shows."""

from collections.abc import Callable, Mapping
from typing import Final

from spotthebot.analytics.figures.charts import FigureInput, Spec
from spotthebot.analytics.figures.comparisons import ranking, win_matrix
from spotthebot.analytics.figures.curves import segments, stability, survival
from spotthebot.analytics.figures.features import features

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
