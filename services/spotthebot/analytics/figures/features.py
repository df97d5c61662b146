"""The figure of features: which bot was preferred by each feature, and which features reveal a bot."""

from collections.abc import Sequence

import altair as alt

from spotthebot.analytics.figures import captions
from spotthebot.analytics.figures.charts import (
    SHARE,
    Drawn,
    FigureInput,
    Marks,
    Rows,
    Spec,
    data,
    finish,
    intervals,
    nothing_to_draw,
)
from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.annotation.annotations import FEATURES

_WITH_SSA = (*FEATURES, "ssa")
_LEAST_DEGREES = 1


def features(shown: FigureInput) -> Spec:
    """Draw each bot's win rate by feature, and the effect of each feature on the hazard of being spotted."""
    analysis = shown.analysis
    title = "Features"
    rows = [  # with less than a degree of freedom, an interval of hundreds would hide all others
        {
            "bot": each.bot,
            "feature": feature.upper() if feature == "ssa" else feature,
            "win_rate": each.win_rate,
            "low": each.low,
            "high": each.high,
        }
        for feature in _WITH_SSA
        for each in getattr(analysis.features, feature).bots
        if each.win_rate is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No game was decided by a feature.")
    axis = alt.X(
        "low:Q",
        scale=SHARE,
        title=_title(shown, "win rate"),
        axis=alt.Axis(values=[0, 0.5, 1], format=".1~f"),
    )
    half = _reference(shown, 0.5)
    names = [*FEATURES, "SSA"]
    rates = _panels(shown, rows, "win_rate", axis, half, names, 4)
    hazards = _hazards(shown)
    chart = rates if hazards is None else alt.vconcat(rates, hazards, spacing=34)
    separate = chart if hazards is None else chart.resolve_scale(color="independent", shape="independent")
    return finish(shown, separate, title, captions.features(analysis))


def _hazards(shown: FigureInput) -> Drawn | None:
    rows = [
        {
            "bot": each.bot,
            "feature": each.feature,
            "coefficient": each.coefficient,
            "low": each.low,
            "high": each.high,
        }
        for each in shown.analysis.survival.cox
        if each.coefficient is not None
        and each.low is not None
        and each.high is not None
        and (each.uncertainty.degrees_of_freedom or _LEAST_DEGREES) >= _LEAST_DEGREES
    ]
    if not rows:
        return None
    axis = alt.X(
        "low:Q",
        title=_title(shown, "Cox coefficient"),
        axis=alt.Axis(tickCount=2 if shown.is_narrow else 4, labelOverlap=True),
    )
    return _panels(shown, rows, "coefficient", axis, _reference(shown, 0), FEATURES, 3)


def _panels(
    shown: FigureInput, rows: Rows, estimate: str, axis: alt.X, reference: Drawn, names: Sequence[str], columns: int
) -> Drawn:
    """Draw a panel for each feature, side by side; on a phone there are two in each row."""
    marks = Marks(shown, rows)
    columns = 2 if shown.is_narrow else columns
    width = (shown.layout.total - marks.room - 30 * columns) // columns
    return (
        alt.layer(reference, *intervals(estimate, axis, rows, marks, source=False), data=data(rows))
        .properties(width=width, height=marks.height())
        .facet(facet=alt.Facet("feature:N", sort=[*names], title=None), columns=columns, spacing=20)
    )


def _title(shown: FigureInput, measure: str) -> str:
    return measure if shown.is_narrow else f"{measure}, {percent(shown.analysis.confidence_level)} interval"


def _reference(shown: FigureInput, at: float) -> Drawn:
    return alt.Chart().mark_rule(color=shown.colours.guide, strokeDash=[3, 3], aria=False).encode(x=alt.datum(at))
