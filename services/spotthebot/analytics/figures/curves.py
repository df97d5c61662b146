"""Figures over a course: how long bots pass, what more exchanges change, how many conversations a ranking needs."""

from typing import Any

import altair as alt

from spotthebot.analytics.figures.charts import (
    Drawn,
    FigureInput,
    Spec,
    bot_colours,
    dashes,
    data,
    finish,
    nothing_to_draw,
    percent,
    ranked_names,
)
from spotthebot.analytics.figures.errors import StabilityNotComputed
from spotthebot.analytics.stats import HUMAN
from spotthebot.contracts.analytics import StabilityCurve

_SHARE = alt.Scale(domain=[0, 1])
_MAX_BANDS = 10
"""Beyond as many speakers bands hide the curves."""


def survival(shown: FigureInput) -> Spec:
    """Draw the share not yet spotted at each inspection, with bands; people are dashed."""
    analysis = shown.analysis
    title = "How long they pass"
    names = ranked_names(analysis)
    times = analysis.survival.times
    rows = [
        {"bot": curve.bot, "exchanges": time, "survival": value, "low": low, "high": high}
        for curve in analysis.survival.curves
        for time, value, low, high in zip(times, curve.survival, curve.low, curve.high, strict=True)
        if value is not None
    ]
    if not rows:
        return nothing_to_draw(title, analysis, "Nobody was inspected.")
    start = [{"bot": bot, "exchanges": 0, "survival": 1.0} for bot in sorted({str(row["bot"]) for row in rows})]
    x = _exchanges([0, *times])
    bounded = [row for row in rows if row["low"] is not None]
    bands = (
        alt.Chart(data(bounded))
        .mark_area(opacity=0.12)
        .encode(
            x=x, y=alt.Y("low:Q", scale=_SHARE, title="share not yet spotted"), y2="high:Q", color=bot_colours(names)
        )
    )
    lines = _lines([*start, *rows], "survival", x, names, title="share not yet spotted")
    points = _points(rows, "survival", x, names)
    few = len(names) <= _MAX_BANDS
    layers = [bands, lines, points] if few and bounded else [lines, points]
    chart = alt.layer(*layers).properties(width=420, height=300)
    shown_bands = f"{percent(analysis.confidence_level)} bands; " if few else "bands are in the table; "
    missing = {found.reason for curve in analysis.survival.curves for found in curve.uncertainty if found}
    why = "; ".join(sorted(reason for reason in missing if reason))
    note = f"{shown_bands}{analysis.survival.method}" if bounded else f"no bands: {why}"
    alike = sum(not test.significant for test in analysis.survival.log_rank)
    tests = f"log-rank: {len(analysis.survival.log_rank) - alike} of {len(analysis.survival.log_rank)} pairs differ"
    return finish(chart, title, analysis, note, tests if analysis.survival.log_rank else "")


def segments(shown: FigureInput) -> Spec:
    """Draw win rates and shares taken for human over the number of exchanges seen."""
    analysis = shown.analysis
    title = "What more exchanges change"
    names = [name for name in ranked_names(analysis) if name != HUMAN]
    rows = [
        {"bot": bot.bot, "exchanges": segment.exchanges, "measure": measure, "share": value}
        for segment in analysis.segments
        for bot in segment.bots
        for measure, value in (("win rate", bot.win_rate), ("taken for human", bot.human_share))
        if value is not None
    ]
    if not rows:
        return nothing_to_draw(title, analysis, "No conversation between bots was annotated.")
    x = _exchanges([segment.exchanges for segment in analysis.segments])
    panels = []
    for measure in ("win rate", "taken for human"):
        mine = [row for row in rows if row["measure"] == measure]
        layers = alt.layer(_lines(mine, "share", x, names, title=measure), _points(mine, "share", x, names))
        panels.append(layers.properties(width=230, height=280))
    ties = ", ".join(
        f"{segment.ties:.0%} after {segment.exchanges}" for segment in analysis.segments if segment.ties is not None
    )
    return finish(alt.hconcat(*panels, spacing=30), title, analysis, f"Ties: {ties}" if ties else "")


def stability(shown: FigureInput) -> Spec:
    """Draw the share of subsets that rank alike over their size, of all bots and without each in turn."""
    analysis = shown.analysis
    if shown.stability is None:
        raise StabilityNotComputed(campaign_id=analysis.campaign_id)
    title = "How many conversations a ranking needs"
    names = ranked_names(analysis)
    whole = [
        _stability_row(curve, point)
        for curve in shown.stability.curves
        if curve.without is None
        for point in curve.points
    ]
    partly = [
        _stability_row(curve, point)
        for curve in shown.stability.curves
        if curve.without is not None
        for point in curve.points
    ]
    if not whole:
        return nothing_to_draw(title, analysis, "No pair has three conversations.")
    x = alt.X("conversations:Q", title="conversations per pair", axis=alt.Axis(tickMinStep=1))
    y = alt.Y("rate:Q", scale=_SHARE, title="share of subsets with the commonest clusters")
    tooltip = ["conversations:Q", alt.Tooltip("rate:Q", format=".3f"), "without:N", "clusters:N"]
    layers: list[Any] = [
        alt.Chart(data([{"rate": 0.95}]))
        .mark_rule(color="#999999", strokeDash=[3, 3])
        .encode(y=alt.Y("rate:Q", scale=_SHARE)),
        alt.Chart(data(whole))
        .mark_area(opacity=0.15, color="#333333")
        .encode(x=x, y=alt.Y("low:Q", scale=_SHARE), y2="high:Q"),
    ]
    if partly:
        colour = bot_colours([name for name in names if name != HUMAN])
        layers.append(
            alt.Chart(data(partly))
            .mark_line(strokeWidth=1.5)
            .encode(x=x, y=y, color=colour.legend(alt.Legend(title="without")), tooltip=tooltip)
        )
    layers.append(alt.Chart(data(whole)).mark_line(strokeWidth=3, color="#333333").encode(x=x, y=y, tooltip=tooltip))
    (curve,) = (each for each in shown.stability.curves if each.without is None)
    reached = "never reaches 95 %" if curve.first_stable is None else f"first reaches 95 % at {curve.first_stable}"
    subsets, resamples = shown.stability.subsets, shown.stability.resamples
    how = f"{subsets:,} subsets of each size, {resamples:,} replicates, {shown.stability.rule} rule"
    chart = alt.layer(*layers).properties(width=440, height=300)
    return finish(chart, title, analysis, f"Dark: all bots, {reached}", how)


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


def _exchanges(values: list[int]) -> alt.X:
    return alt.X("exchanges:Q", title="exchanges seen", axis=alt.Axis(values=sorted(set(values)), format="d"))


def _lines(rows: list[dict[str, Any]], field: str, x: alt.X, names: list[str], *, title: str | None = None) -> Drawn:
    return (
        alt.Chart(data(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y(f"{field}:Q", scale=_SHARE, title=title) if title else alt.Y(f"{field}:Q", scale=_SHARE),
            color=bot_colours(names),
            strokeDash=dashes(names),
        )
    )


def _points(rows: list[dict[str, Any]], field: str, x: alt.X, names: list[str]) -> Drawn:
    tooltip = ["bot:N", "exchanges:Q", alt.Tooltip(f"{field}:Q", format=".3f")]
    return (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=45, opacity=1)
        .encode(x=x, y=alt.Y(f"{field}:Q", scale=_SHARE), color=bot_colours(names), tooltip=tooltip)
    )
