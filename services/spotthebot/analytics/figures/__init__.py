"""Makes figures of a campaign, as Vega-Lite specs with the data inside, and renders them.

For notebooks: the functions `plot_...` are exported here (see "The statistics" in the documentation). Our own modules
import from the module that defines a name.
"""

from spotthebot.analytics.figures.plots import (
    plot_features,
    plot_ranking,
    plot_segments,
    plot_stability,
    plot_survival,
    plot_win_matrix,
)

__all__ = ["plot_features", "plot_ranking", "plot_segments", "plot_stability", "plot_survival", "plot_win_matrix"]
