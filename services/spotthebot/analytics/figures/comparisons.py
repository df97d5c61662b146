"""Figures of games: who wins against whom, and the ranking."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import altair as alt

from spotthebot.analytics.figures import captions
from spotthebot.analytics.figures.charts import (
    SHARE,
    TINT,
    Drawn,
    FigureInput,
    Marks,
    Spec,
    data,
    finish,
    intervals,
    nothing_to_draw,
)
from spotthebot.analytics.figures.labels import percent, room_for, set_of_ranks, short, two_digits
from spotthebot.contracts.analytics.wins import WinRates

_READABLE: Final = 30
"""A smaller cell, in pixels, shows no number."""


def win_matrix(shown: FigureInput) -> Spec:
    """Draw the win rate of each row's bot against each column's bot, best bots first.

    Only cells of pairs that differ significantly are coloured.
    """
    analysis, layout = shown.analysis, shown.layout
    title = "Who wins against whom"
    rows = _cells(analysis.win_rates)
    if not rows:
        return nothing_to_draw(shown, title, "No two bots have a decided game.")
    marks = Marks(shown, [{"bot": each.bot} for each in analysis.ranking.bots])
    k = len(marks.names)
    size = max(9, min(76, (layout.total - marks.room - 16) // k))
    fits = all(room_for(name, layout.text) <= size for name in marks.names)
    heading = alt.Axis(
        orient="top",
        labelAngle=0 if fits else -90 if shown.is_narrow else -40,
        labelExpr=short(layout.names, layout.text),
        labelLimit=0,
        ticks=False,
        domain=False,
        grid=False,
    )
    flat = alt.Scale(paddingInner=0, paddingOuter=0)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("other:N", sort=marks.names, title=None, axis=heading, scale=flat),
        y=marks.rows(),
        tooltip=[
            *map(alt.Tooltip, ("bot:N", "other:N", "wins:Q", "losses:Q", "ties:Q")),
            alt.Tooltip("win_rate:Q", format=".3f"),
            alt.Tooltip("p_adjusted:Q", format=".3g"),
            alt.Tooltip("significant:N"),
        ],
    )
    winners = alt.Color(
        "winner:N",
        scale=alt.Scale(domain=marks.names, range=[shown.colour_of(each) for each in marks.speakers]),
        legend=None,
    )
    depth = alt.Opacity("margin:Q", scale=alt.Scale(domain=[0, 0.5], range=[0.15, TINT]), legend=None)
    colours = shown.colours
    alike, different = ([row for row in rows if row["significant"] is significant] for significant in (False, True))
    layers = []
    if alike:
        grey = base.properties(data=data(alike))
        layers.append(grey.mark_rect(color=colours.neutral, stroke=colours.surface, strokeWidth=2))
    if different:
        coloured = base.properties(data=data(different)).encode(color=winners, opacity=depth)
        layers.append(coloured.mark_rect(stroke=colours.surface, strokeWidth=2))
    if size >= _READABLE:
        counted = size >= 64
        text = alt.condition("datum.significant", alt.value(shown.colours.ink), alt.value(shown.colours.soft))
        layers.append(
            base.mark_text(fontSize=layout.text + 1, dy=-8 if counted else 0, aria=False).encode(
                text=alt.Text("label:N"), color=text
            )
        )
        if counted:
            layers.append(base.mark_text(fontSize=layout.text, dy=10, aria=False).encode(text="games:N", color=text))
    chart = alt.layer(*layers).properties(width=size * k, height=size * k)
    correction = "" if analysis.correction == "none" else f", {analysis.correction.capitalize()}'s correction"
    tested = analysis.win_rates.pairs[0].test if analysis.win_rates.pairs else "no test"
    note = f"* {tested}, p < {analysis.significance_level:.3g}{correction}"
    return finish(shown, chart, title, captions.win_matrix(analysis), note)


def ranking(shown: FigureInput) -> Spec:
    """Draw win rates with intervals, and the probability of each rank. Bots of the same cluster share a grey band.

    If no two bots met, draw the fooling rates of bots and people instead.
    """
    analysis, layout = shown.analysis, shown.layout
    by_games = analysis.ranking.ranked_by != "fooling_rates"
    title = "Ranking"
    rate = "win_rate" if by_games else "fooling_rate"
    rows = [
        {
            "bot": each.bot,
            "cluster": each.cluster,
            rate: each.deciding.estimate,
            "low": each.deciding.low,
            "high": each.deciding.high,
            "label": two_digits(each.deciding.estimate),
            "beside": each.deciding.estimate if each.deciding.high is None else each.deciding.high,
            "ranks": set_of_ranks(each.rank_low, each.rank_high),
        }
        for each in analysis.ranking.bots
        if each.deciding.estimate is not None
    ]
    if not rows:
        return nothing_to_draw(shown, title, "No bot has a decided game.")
    marks = Marks(shown, rows)
    k = len(rows)
    measured = "mean win rate" if by_games else "share of labels that are human"
    axis = alt.X(
        "low:Q",
        scale=SHARE,
        title=f"{measured}, {percent(analysis.confidence_level)} interval",
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f"),
    )
    values = (
        alt.Chart(data(rows))
        .mark_text(align="left", dx=9, fontSize=layout.text, color=shown.colours.ink, aria=False)
        .encode(x=alt.X("beside:Q"), y=marks.rows(), text=alt.Text("label:N"))
    )
    free = layout.total - marks.room - 56
    ranked = by_games and analysis.ranking.reason is None
    step = max(8, min(34, (free if shown.is_narrow else free // 2) // k)) if ranked else 0
    layers = [*_bands(shown, rows, marks), *intervals(rate, axis, rows, marks), values]
    rates = alt.layer(*layers).properties(
        width=free if shown.is_narrow or not ranked else free - step * k - 40, height=marks.height()
    )
    caption = captions.ranking(analysis)
    if not by_games:
        return finish(shown, rates, title, caption)
    if not ranked:
        return finish(shown, rates, title, caption, f"Not ranked: {analysis.ranking.reason}")
    probabilities = _rank_probabilities(shown, marks, step)
    both = (
        alt.vconcat(rates, probabilities, spacing=28)
        if shown.is_narrow
        else alt.hconcat(rates, probabilities, spacing=48)
    )
    return finish(shown, both.resolve_scale(color="independent", shape="independent"), title, caption)


def _cells(win_rates: WinRates) -> list[dict[str, object]]:
    cells: list[dict[str, object]] = []
    for pair in win_rates.pairs:
        if pair.win_rate is None:
            continue
        star = "*" if pair.significant else ""
        known = {"ties": pair.ties, "p_adjusted": pair.p_adjusted, "significant": pair.significant}
        for bot, other, wins, losses in (
            (pair.bot, pair.other, pair.wins, pair.losses),
            (pair.other, pair.bot, pair.losses, pair.wins),
        ):
            rate = wins / (wins + losses)
            cells.append(
                {
                    "bot": bot,
                    "other": other,
                    "wins": wins,
                    "losses": losses,
                    "win_rate": rate,
                    "winner": bot if rate > 0.5 else other,
                    "margin": abs(rate - 0.5),
                    "label": two_digits(rate) + star,
                    "games": f"{wins} : {losses}",
                    **known,
                }
            )
    return cells


def _bands(shown: FigureInput, rows: Sequence[Mapping[str, Any]], marks: Marks) -> list[Drawn]:
    """Return a band behind each cluster of several bots, with a gap between bands."""
    clusters = {row["bot"]: row["cluster"] for row in rows}
    sizes = [*clusters.values()]
    shared = [{"bot": bot} for bot, cluster in clusters.items() if cluster is not None and sizes.count(cluster) > 1]
    ends = [{"bot": after} for before, after in pairwise(marks.names) if clusters[before] != clusters[after]]
    wide = {"x": alt.value(0), "x2": alt.value("width")}
    bands = alt.Chart(data(shared)).mark_rect(color=shown.colours.neutral, aria=False).encode(y=marks.rows(), **wide)
    gaps = (
        alt.Chart(data(ends))
        .mark_rule(color=shown.colours.surface, strokeWidth=3, aria=False)
        .encode(y=alt.Y("bot:N", sort=marks.names, bandPosition=0), **wide)
    )
    return [bands, gaps] if shared else []


def _rank_probabilities(shown: FigureInput, marks: Marks, step: int) -> Drawn:
    rows = [
        {"bot": each.bot, "rank": rank, "probability": probability, "label": two_digits(probability)}
        for each in shown.analysis.ranking.bots
        for rank, probability in enumerate(each.rank_probabilities, start=1)
        if probability > 0
    ]
    # The title is wider than the columns of few bots: it extends to the left, where there is room.
    axis = alt.Axis(labelAngle=0, ticks=False, domain=False, grid=False, labelOverlap=True, titleAnchor="end")
    ranks = alt.Scale(domain=[*range(1, len(marks.names) + 1)], paddingInner=0, paddingOuter=0)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("rank:O", title="probability of each rank", axis=axis, scale=ranks),
        y=marks.rows(labels=shown.is_narrow),
        tooltip=[alt.Tooltip("bot:N"), alt.Tooltip("rank:O"), alt.Tooltip("probability:Q", format=".3f")],
    )
    depth = alt.Opacity("probability:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, TINT]), legend=None)
    layers = [
        base.mark_rect(stroke=shown.colours.surface, strokeWidth=2).encode(color=marks.colour(), opacity=depth),
    ]
    if step >= _READABLE:
        layers.append(
            base.mark_text(fontSize=shown.layout.text, color=shown.colours.ink, aria=False).encode(text="label:N")
        )
    return alt.layer(*layers).properties(width=step * len(marks.names), height=marks.height())
