"""Figures of an assessment of measures, after Figures 1 to 3 of ABC-Eval (Finch, Finch & Choi 2023).

They show how far annotators agree by each measure, how much of the outcome it explains, how many pairs of bots it tells
apart, and how much several measures explain together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from spotthebot.analytics.figures.charts import Canvas, Drawn, Spec, data, finish, nothing_to_draw
from spotthebot.analytics.figures.labels import percent, room_for, short, two_digits
from spotthebot.analytics.stats.assessment.sensitivity import LEVELS
from spotthebot.contracts.analytics.assessments import AssessedMeasure
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.studies import StudyAssessmentOut

_ROW: Final = 24
_NAMES: Final = 1.4
_MARKS: Final = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""The marks of p-values below these levels."""
_TINTS: Final = (0.35, 0.65, 1.0)


@dataclass(frozen=True)
class AssessmentInput(Canvas):
    """The assessment that a figure shows, and how it is drawn."""

    assessment: StudyAssessmentOut
    theme: Theme = "light"
    width: Width = "wide"
    heading: bool = True

    @property
    def stands_on(self) -> tuple[str, ...]:
        """Return the study with its dialogues, and whether annotators are simulated or annotations missing."""
        found = self.assessment
        everybody = sum(each.annotators for each in found.sources)
        programs = "annotators, programs among them" if any(each.programs for each in found.sources) else "annotators"
        are_simulated = everybody == sum(each.simulated_annotators for each in found.sources) > 0
        annotators = "simulated annotators" if are_simulated else programs
        counted = f"{found.study}: {len(found.measures)} measures of {found.dialogues:,} dialogues by {annotators}"
        return (counted, "preliminary: annotations are still missing") if found.preliminary else (counted,)

    @property
    def for_pages(self) -> Mapping[str, Any]:
        """Return nothing: these figures show no bot."""
        return {}

    def rows(self, names: list[str]) -> alt.Y:
        """Return the encoding with one row for each measure; the names are on the left."""
        axis = alt.Axis(
            ticks=False,
            domain=False,
            grid=False,
            labelPadding=8,
            labelExpr=short(self._room, self.layout.text),
            labelLimit=0,
            minExtent=self._room_of(names) + 8,
        )
        scale = alt.Scale(paddingInner=0.3, paddingOuter=0.15)
        return alt.Y("measure:N", sort=names, title=None, axis=axis, scale=scale)

    def panel(self, names: list[str]) -> dict[str, int]:
        """Return the size of a panel with one row for each measure."""
        return {"width": self.layout.total - self._room_of(names) - 40, "height": max(40, _ROW * len(names))}

    def _room_of(self, names: list[str]) -> int:
        """Return the pixels for these names. A reader's font may be wider than the one that draws the figure."""
        return min(self._room, room_for(max(names, key=len), self.layout.text))

    @property
    def _room(self) -> int:
        """Return the pixels for a measure's name, which is longer than a bot's."""
        return round(_NAMES * self.layout.names)


def agreement(shown: AssessmentInput) -> Spec:
    """Draw Krippendorff's alpha of each measure with its interval (Figure 1)."""
    title = "How far annotators agree"
    rows = [
        {"measure": each.name, "alpha": each.alpha.estimate, "low": each.alpha.low, "high": each.alpha.high}
        for each in shown.assessment.measures
        if each.alpha.estimate is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No unit has two annotators, so nobody knows how far they agree.")
    names = [str(row["measure"]) for row in rows]
    known = [each.alpha for each in shown.assessment.measures]
    least = min((bound for each in known for bound in (each.estimate, each.low) if bound is not None), default=0.0)
    axis = alt.X(
        "low:Q",
        scale=alt.Scale(domain=[min(0.0, least), 1]),
        title=f"alpha, {percent(shown.assessment.confidence_level)} interval",
        axis=alt.Axis(tickCount=5, format=".2~f"),
    )
    ink = shown.colours.ink
    layers = [
        _rule(shown, 0),
        alt.Chart(data([row for row in rows if row["low"] is not None]))
        .mark_rule(strokeWidth=8, opacity=0.3, strokeCap="round", color=ink, aria=False)
        .encode(x=axis, x2=alt.X2("high:Q"), y=shown.rows(names)),
        alt.Chart(data(rows))
        .mark_point(filled=True, size=75, opacity=1, color=ink)
        .encode(x=alt.X("alpha:Q"), y=shown.rows(names), tooltip=_tooltip("alpha", "low", "high")),
    ]
    caption = (
        "A dot is Krippendorff's alpha: 1 is perfect agreement, 0 is agreement by chance. A bar that reaches 0 does not"
        " show that annotators understand the question alike. Measures without two annotators for a unit are left out."
    )
    return finish(shown, alt.layer(*layers).properties(**shown.panel(names)), title, caption)


def importance(shown: AssessmentInput) -> Spec:
    """Draw how much of the outcome's variance each measure explains, with marks of its p-value (Figure 2)."""
    assessment = shown.assessment
    title = "What each measure explains"
    rows = [
        {"measure": each.name, "r2": each.r2, "p": each.p_value, "label": f"{two_digits(each.r2)}{_stars(each)}"}
        for each in assessment.measures
        if each.r2 is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No measure has an R²: the table says why.")
    names = [str(row["measure"]) for row in rows]
    most = max(each.r2 or 0.0 for each in assessment.measures)
    axis = alt.X(
        "r2:Q",
        scale=alt.Scale(domain=[0, min(1.0, 1.2 * most or 1.0)]),
        title=f"R² of {assessment.outcome}",
        axis=alt.Axis(tickCount=4, format=".2~f"),
    )
    base = alt.Chart(data(rows)).encode(x=axis, y=shown.rows(names))
    bars = base.mark_bar(color=shown.colours.guide).encode(tooltip=_tooltip("r2", "p"))
    labels = base.mark_text(align="left", dx=6, fontSize=shown.layout.text, color=shown.colours.ink, aria=False)
    caption = (
        f"A bar is the share of the variance of {assessment.outcome} that a model of one measure explains, over"
        " dialogues that have both; of an outcome with two values, or of preferences, it is McFadden's R²."
        " * p < .05, ** p < .01, *** p < .001, with clusters of dialogues and annotators, for each measure by itself."
    )
    chart = alt.layer(bars, labels.encode(text=alt.Text("label:N"))).properties(**shown.panel(names))
    return finish(shown, chart, title, caption)


def sensitivity(shown: AssessmentInput) -> Spec:
    """Draw how many pairs of bots each measure tells apart at three levels (Table 5)."""
    title = "Pairs of bots told apart"
    pairs = len(shown.assessment.bots) * (len(shown.assessment.bots) - 1) // 2
    rows = [
        {"measure": each.name, "level": f"p < {level}", "pairs": each.pairs_told_apart[level], "place": place}
        for each in shown.assessment.measures
        for place, level in enumerate(LEVELS)
        if each.pairs_told_apart.get(level) is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No measure has values of two bots.")
    names = list(dict.fromkeys(str(row["measure"]) for row in rows))
    axis = alt.Axis(tickMinStep=1, format="d", grid=False)
    counted = alt.X(
        "pairs:Q", stack=None, scale=alt.Scale(domain=[0, max(1, pairs)]), title=f"of {pairs} pairs", axis=axis
    )
    levels = [f"p < {level}" for level in LEVELS]
    depth = alt.Opacity(
        "level:N",
        sort=levels,
        scale=alt.Scale(domain=levels, range=[*_TINTS]),
        legend=alt.Legend(title=None, symbolFillColor=shown.colours.ink, symbolType="square", orient="bottom"),
    )
    bars = (
        alt.Chart(data(sorted(rows, key=lambda row: row["place"])))
        .mark_bar(color=shown.colours.ink)
        .encode(
            x=counted,
            y=shown.rows(names),
            opacity=depth,
            tooltip=[*map(alt.Tooltip, ("measure:N", "level:N", "pairs:Q"))],
        )
    )
    caption = (
        "A bar is the number of pairs of bots with an adjusted p-value below a level, by the suite's own test of all"
        " values; the darkest part holds at the strictest level."
    )
    return finish(shown, bars.properties(**shown.panel(names)), title, caption)


def steps(shown: AssessmentInput) -> Spec:
    """Draw how much of the outcome's variance the best set of each size explains (Figure 3)."""
    assessment = shown.assessment
    title = "What several measures explain"
    curves: tuple[tuple[str, Callable[[Any], float | None]], ...] = (
        ("R²", lambda step: step.r2),
        ("adjusted R²", lambda step: step.adjusted_r2),
    )
    rows = [
        {"measures": len(step.left), "r2": value, "curve": curve, "left": ", ".join(step.left)}
        for step in assessment.stepwise
        for curve, of in curves
        if (value := of(step)) is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, assessment.stepwise_reason or "There are no steps.")
    colours, sizes = shown.colours, [len(step.left) for step in assessment.stepwise]
    ticks = alt.Axis(values=sizes, format="d", grid=False)
    x = alt.X("measures:Q", title="number of measures", scale=alt.Scale(zero=False, nice=False, padding=20), axis=ticks)
    most = min(1.0, 1.2 * max(step.r2 for step in assessment.stepwise) or 1.0)
    y = alt.Y("r2:Q", scale=alt.Scale(domain=[0, most]), title=f"R² of {assessment.outcome}")
    names = [name for name, _ in curves]
    dash = alt.StrokeDash(
        "curve:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=[[1, 0], [4, 3]]),
        legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=2, orient="bottom"),
    )
    base = alt.Chart(data(rows)).encode(x=x, y=y)
    lines = base.mark_line(color=colours.ink, aria=False).encode(strokeDash=dash)
    points = base.mark_point(filled=True, size=60, color=colours.ink, opacity=1).encode(
        tooltip=[
            alt.Tooltip("measures:Q"),
            alt.Tooltip("r2:Q", format=".3f"),
            alt.Tooltip("curve:N"),
            alt.Tooltip("left:N"),
        ]
    )
    adjusted = {len(step.left): step.adjusted_r2 for step in assessment.stepwise if step.adjusted_r2 is not None}
    best = [{"measures": max(adjusted, key=lambda size: adjusted[size])}] if adjusted else []
    kept = alt.Chart(data(best)).mark_rule(color=colours.guide, strokeDash=[3, 3], aria=False).encode(x=x)
    caption = (
        f"A point is the best set of this many measures, over {assessment.stepwise_n:,} dialogues or pairs with all of"
        " them. R² grows with every measure; adjusted R² falls where a measure adds less than chance would. The"
        " dashed line is at its maximum."
    )
    size = {"width": shown.layout.total - 80, "height": 240 if shown.is_narrow else 280}
    return finish(shown, alt.layer(kept, lines, points).properties(**size), title, caption)


ASSESSMENT_FIGURES: Final[Mapping[str, Callable[[AssessmentInput], Spec]]] = {
    "agreement": agreement,
    "importance": importance,
    "sensitivity": sensitivity,
    "steps": steps,
}


def _stars(measure: AssessedMeasure) -> str:
    if measure.p_value is None:
        return ""
    return next((f" {marks}" for level, marks in _MARKS if measure.p_value < level), "")


def _rule(shown: AssessmentInput, at: float) -> Drawn:
    return alt.Chart().mark_rule(color=shown.colours.guide, strokeDash=[3, 3], aria=False).encode(x=alt.datum(at))


def _tooltip(*fields: str) -> list[Any]:
    return [alt.Tooltip("measure:N"), *(alt.Tooltip(f"{field}:Q", format=".3f") for field in fields)]
