"""Figures over a number of exchanges or conversations: survival, win rates by exchanges, stability of the ranking."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

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
    nothing_to_draw,
)
from spotthebot.analytics.figures.errors import StabilityNotComputed
from spotthebot.analytics.figures.labels import short
from spotthebot.contracts.analytics.analyses import StabilityCurve
from spotthebot.contracts.analytics.provenance import Interval

_APART: Final = 0.5
"""The share of the distance between two lengths over which the points of one length are spread."""
_SHARES: Final = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", domain=False, ticks=False)
_MANY: Final = 8
"""With more speakers, intervals and lines are thinner."""


def survival(shown: FigureInput) -> Spec:
    """Draw the share of bots not yet spotted at each inspection, with intervals. The line of people is dashed."""
    analysis = shown.analysis
    title = "How long they pass"
    times = analysis.survival.times
    rows = [
        {"bot": curve.bot, "exchanges": time, "share": value, "low": low, "high": high}
        for curve in analysis.survival.curves
        for time, value, low, high in zip(times, curve.survival, curve.low, curve.high, strict=True)
        if value is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "Nobody was inspected.")
    course = _Course(shown, rows, [0, *times])
    start = [{"bot": bot, "exchanges": 0, "share": 1.0, "at": 0} for bot in course.marks.names]
    layers = course.layers(rows, "share not yet spotted", start=start)
    chart = alt.layer(*layers).properties(width=course.width(1), height=280 if shown.is_narrow else 320)
    bounded = any(row["low"] is not None for row in rows)
    missing = {found.reason for curve in analysis.survival.curves for found in curve.uncertainty if found}
    why = "" if bounded else f"no intervals: {'; '.join(sorted(reason for reason in missing if reason))}"
    found = analysis.survival.differences
    compared = f"log-rank: {found.shown} of {found.pairs} pairs of bots differ significantly" if found.pairs else ""
    return finish(shown, chart, title, captions.survival(analysis), why, compared)


def segments(shown: FigureInput) -> Spec:
    """Draw win rates, and fooling rates, over the number of exchanges seen, with intervals."""
    analysis = shown.analysis
    title = "What more exchanges change"
    rows = [
        {"bot": bot.bot, "exchanges": segment.exchanges, "measure": measure, **_bounds(found)}
        for segment in analysis.segments
        for bot in segment.bots
        for measure, found in (("win rate", bot.win_rate_interval), ("fooling rate", bot.human_share_interval))
        if found.estimate is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No conversation between bots was annotated.")
    course = _Course(shown, rows, [segment.exchanges for segment in analysis.segments])
    panels = [
        alt.layer(*course.layers([row for row in rows if row["measure"] == measure], measure)).properties(
            width=course.width(1 if shown.is_narrow else 2), height=210 if shown.is_narrow else 280
        )
        for measure in ("win rate", "fooling rate")
    ]
    both = alt.vconcat(*panels, spacing=24) if shown.is_narrow else alt.hconcat(*panels, spacing=24)
    ties = ", ".join(
        f"{segment.ties:.0%} after {segment.exchanges}" for segment in analysis.segments if segment.ties is not None
    )
    note = f"Share of ties: {ties} exchanges" if ties else ""
    return finish(shown, both, title, captions.segments(analysis), note)


def stability(shown: FigureInput) -> Spec:
    """Draw how stable the ranking is: the share of subsets with the most frequent clusters, over the size of subsets.

    One curve is for all bots; each other curve leaves out one bot.
    """
    analysis, colours = shown.analysis, shown.colours
    if shown.stability is None:
        raise StabilityNotComputed(campaign_id=analysis.campaign_id)
    title = "How many conversations a ranking needs"
    rows = [_stability_row(curve, point) for curve in shown.stability.curves for point in curve.points]
    whole = [row for row in rows if row["bot"] is None]
    partly = [row for row in rows if row["bot"] is not None]
    if not whole:
        return nothing_to_draw(shown, title, "No pair has three conversations.")
    marks = Marks(shown, partly)
    x = alt.X(
        "conversations:Q", title="conversations per pair", axis=alt.Axis(values=_sizes(whole), format="d", grid=False)
    )
    y = alt.Y("rate:Q", scale=SHARE, title="share of subsets", axis=_SHARES)
    tooltip = [
        alt.Tooltip("conversations:Q"),
        alt.Tooltip("rate:Q", format=".3f"),
        alt.Tooltip("without:N"),
        alt.Tooltip("clusters:N"),
    ]
    layers: list[Any] = [
        alt.Chart(data([{"rate": 0.95}])).mark_rule(color=colours.guide, strokeDash=[3, 3], aria=False).encode(y=y),
        alt.Chart(data(whole))
        .mark_area(opacity=0.15, color=colours.ink, aria=False)
        .encode(x=x, y=alt.Y("low:Q", scale=SHARE), y2=alt.Y2("high:Q")),
    ]
    if marks.names:
        lines = alt.Legend(
            title="without",
            labelExpr=short(shown.layout.names, shown.layout.text),
            symbolType="stroke",
            symbolStrokeWidth=2,
        )
        without = marks.colour(legend=lines)
        layers.append(
            alt.Chart(data(partly))
            .mark_line(strokeWidth=1.5)
            .encode(x=x, y=y, color=without, strokeDash=marks.dash(), tooltip=tooltip)
        )
    layers.append(alt.Chart(data(whole)).mark_line(strokeWidth=3, color=colours.ink).encode(x=x, y=y, tooltip=tooltip))
    (curve,) = (each for each in shown.stability.curves if each.without is None)
    reached = "never reaches 95 %" if curve.first_stable is None else f"first reaches 95 % at {curve.first_stable}"
    resamples = f"{shown.stability.resamples:,} replicates, {shown.stability.rule} rule"
    chart = alt.layer(*layers).properties(
        width=_plot_width(shown, marks if marks.names else None, 1), height=280 if shown.is_narrow else 300
    )
    caption = captions.stability(analysis, shown.stability)
    return finish(shown, chart, title, caption, f"Thick: all bots, {reached}; {resamples}")


class _Course:
    """Draws points with intervals over a number on the horizontal axis, such as exchanges.

    Points at the same number are placed side by side, so that all are visible.
    """

    def __init__(self, shown: FigureInput, rows: Sequence[dict[str, Any]], lengths: Sequence[int]) -> None:
        self.marks = Marks(shown, rows)
        self._shown = shown
        ordered = sorted(set(lengths))
        way = min((after - before for before, after in pairwise(ordered)), default=1)
        k = len(self.marks.names)
        place = {name: (at - (k - 1) / 2) / k * _APART * way for at, name in enumerate(self.marks.names)}
        for row in rows:
            row["at"] = row["exchanges"] + place[row["bot"]]
        margin = _APART * way
        first = ordered[0] if ordered[0] == 0 else ordered[0] - margin
        self._x = alt.X(
            "at:Q",
            title="exchanges seen",
            axis=alt.Axis(values=ordered, format="d", grid=False),
            scale=alt.Scale(domain=[first, ordered[-1] + margin], nice=False, zero=False),
        )

    def width(self, panels: int) -> int:
        """Return the width of each of `panels` panels side by side."""
        return _plot_width(self._shown, self.marks, panels)

    def layers(self, rows: Rows, title: str, *, start: Rows = ()) -> list[Drawn]:
        """Draw the lines, intervals and points of a share."""
        many = len(self.marks.names) > _MANY
        y = alt.Y("share:Q", scale=SHARE, title=title, axis=_SHARES)
        legend = self.marks.legend()
        lines = (
            alt.Chart(data([*start, *rows]))
            .mark_line(strokeWidth=1 if many else 1.5, opacity=0.55, aria=False)
            .encode(x=self._x, y=y, color=self.marks.colour(legend=legend), strokeDash=self.marks.dash())
        )
        bars = (
            alt.Chart(data([row for row in rows if row["low"] is not None]))
            .mark_rule(strokeWidth=2 if many else 5, opacity=0.4, aria=False)
            .encode(
                x=self._x, y=alt.Y("low:Q", scale=SHARE), y2=alt.Y2("high:Q"), color=self.marks.colour(legend=legend)
            )
        )
        numbers = [alt.Tooltip(f"{each}:Q", format=".3f") for each in ("share", "low", "high")]
        points = (
            alt.Chart(data(rows))
            .mark_point(filled=True, size=25 if many else 55, opacity=1)
            .encode(
                x=self._x,
                y=y,
                color=self.marks.colour(legend=legend),
                shape=self.marks.shape(legend=legend),
                tooltip=[alt.Tooltip("bot:N"), alt.Tooltip("exchanges:Q"), *numbers],
            )
        )
        return [lines, bars, points]


def _plot_width(shown: FigureInput, marks: Marks | None, panels: int) -> int:
    """Return the width of a plot without its axes. On a wide page the legend is not included either."""
    legend = 0 if shown.is_narrow or marks is None else marks.room + 50
    return (shown.layout.total - legend - 24 * (panels - 1)) // panels - 56


def _bounds(found: Interval) -> dict[str, float | None]:
    return {"share": found.estimate, "low": found.low, "high": found.high}


def _sizes(rows: Rows) -> list[int]:
    """Return the sizes of subsets that are labelled on the axis, at most ten."""
    sizes = sorted({int(row["conversations"]) for row in rows})
    return sizes[:: -(-len(sizes) // 10)]


def _stability_row(curve: StabilityCurve, point: Any) -> dict[str, Any]:  # noqa: ANN401 - a point of the curve
    return {
        "bot": curve.without,
        "without": curve.without or "-",
        "conversations": point.conversations,
        "rate": point.rate,
        "low": point.low,
        "high": point.high,
        "clusters": " | ".join(", ".join(cluster) for cluster in point.clusters),
    }
