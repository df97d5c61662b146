"""Figures of games: who wins against whom, the ranking, the features."""

import altair as alt

from spotthebot.analytics.figures.charts import (
    Drawn,
    FigureInput,
    Spec,
    bot_colours,
    data,
    finish,
    nothing_to_draw,
    percent,
    ranked_names,
    rows_height,
)
from spotthebot.contracts.analytics import RankedBot, WinRates

_SHARE = alt.Scale(domain=[0, 1])
_FEATURES = ("fluency", "sensibleness", "specificity", "ssa")


def win_matrix(shown: FigureInput) -> Spec:
    """Draw win rates of rows against columns, best bots first; a star marks a significant difference."""
    analysis = shown.analysis
    title = "Who wins against whom"
    order = [each.bot for each in analysis.ranking.bots]
    rows = _cells(analysis.win_rates)
    if not rows:
        return nothing_to_draw(title, analysis, "No two bots have a decided game.")
    size = min(56, max(22, 640 // len(order)))
    base = alt.Chart(data(rows)).encode(
        x=alt.X("other:N", sort=order, title="against", axis=alt.Axis(orient="top", labelAngle=-40, ticks=False)),
        y=alt.Y("bot:N", sort=order, title=None, axis=alt.Axis(ticks=False)),
        tooltip=[
            "bot:N",
            "other:N",
            "wins:Q",
            "losses:Q",
            "ties:Q",
            alt.Tooltip("win_rate:Q", format=".3f"),
            "p_adjusted:Q",
        ],
    )
    squares = base.mark_rect(stroke="#ffffff").encode(
        color=alt.Color(
            "win_rate:Q",
            scale=alt.Scale(domain=[0, 0.5, 1], range=["#D55E00", "#f7f7f7", "#0072B2"]),
            legend=alt.Legend(title="win rate", format=".1f", gradientLength=120),
        )
    )
    numbers = base.mark_text(fontSize=11 if size >= 34 else 8).encode(
        text="label:N",
        color=alt.condition("abs(datum.win_rate - 0.5) > 0.35", alt.value("#ffffff"), alt.value("#222222")),
    )
    chart = (squares + numbers).properties(width=size * len(order), height=size * len(order))
    correction = "" if analysis.correction == "none" else f", {analysis.correction.capitalize()}'s correction"
    tested = analysis.win_rates.pairs[0].test if analysis.win_rates.pairs else "no test"
    note = f"Wins among decided games per {analysis.unit}; * {tested}, p < {analysis.significance_level:.3g}"
    return finish(chart, title, analysis, note + correction)


def ranking(shown: FigureInput) -> Spec:
    """Draw win rates with intervals, coloured by cluster, beside the probability of each rank."""
    analysis = shown.analysis
    title = "Ranking"
    rows = [
        {
            "bot": each.bot,
            "cluster": "none" if each.cluster is None else str(each.cluster),
            "win_rate": each.win_rate.estimate,
            "low": each.win_rate.low,
            "high": each.win_rate.high,
            "ranks": _ranks(each),
        }
        for each in analysis.ranking.bots
        if each.win_rate.estimate is not None
    ]
    if not rows:
        return nothing_to_draw(title, analysis, "No bot has a decided game.")
    order = [str(row["bot"]) for row in rows]
    clusters = sorted({str(row["cluster"]) for row in rows}, key=lambda cluster: (len(cluster), cluster))
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("bot:N", sort=order, title=None, axis=alt.Axis(ticks=False)),
        color=alt.Color(
            "cluster:N",
            sort=clusters,
            title="cluster",
            scale=alt.Scale(scheme="dark2"),
            legend=alt.Legend(orient="left"),
        ),
        tooltip=[
            "bot:N",
            alt.Tooltip("win_rate:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f"),
            alt.Tooltip("high:Q", format=".3f"),
            "ranks:N",
            "cluster:N",
        ],
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=alt.X("low:Q", scale=_SHARE, title=f"mean win rate with {percent(analysis.confidence_level)} interval"),
        x2="high:Q",
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x="win_rate:Q")
    rates = (bars + points).properties(width=340, height=rows_height(len(rows)))
    if analysis.ranking.reason is not None:
        return finish(rates, title, analysis, analysis.ranking.method, f"Not ranked: {analysis.ranking.reason}")
    both = alt.hconcat(rates, _rank_probabilities(shown, order), spacing=24)
    return finish(both, title, analysis, analysis.ranking.method)


def features(shown: FigureInput) -> Spec:
    """Draw each bot's win rate by feature, and what a feature changes in the hazard of being spotted."""
    analysis = shown.analysis
    title = "Features"
    names = ranked_names(analysis)
    rows = [
        {
            "bot": each.bot,
            "feature": feature.upper() if feature == "ssa" else feature,
            "win_rate": each.win_rate,
            "low": each.low,
            "high": each.high,
        }
        for feature in _FEATURES
        for each in getattr(analysis.features, feature).bots
        if each.win_rate is not None
    ]
    if not rows:
        return nothing_to_draw(title, analysis, "No game was decided by a feature.")
    order = [name for name in names if any(row["bot"] == name for row in rows)]
    bars, points = _intervals(
        "win_rate", alt.X("low:Q", scale=_SHARE, title=f"win rate ({percent(analysis.confidence_level)})"), order, names
    )
    rates = (
        alt.layer(bars, points, data=data(rows))
        .properties(width=130, height=rows_height(len(order)))
        .facet(column=alt.Column("feature:N", sort=["fluency", "sensibleness", "specificity", "SSA"], title=None))
    )
    hazards = _hazards(shown, names)
    chart = rates if hazards is None else alt.vconcat(rates, hazards, spacing=28)
    note = f"Above: wins by preference per {analysis.unit}; SSA: sensible and specific both"
    below = "Below: Cox coefficients of being spotted; left of 0 the feature protects" if hazards is not None else ""
    return finish(chart, title, analysis, note, below)


def _ranks(bot: RankedBot) -> str:
    if bot.rank_low is None:
        return "none"
    return f"{bot.rank_low}" if bot.rank_low == bot.rank_high else f"{bot.rank_low} to {bot.rank_high}"


def _cells(win_rates: WinRates) -> list[dict[str, object]]:
    cells: list[dict[str, object]] = []
    for pair in win_rates.pairs:
        if pair.win_rate is None:
            continue
        star = "*" if pair.significant else ""
        known = {"ties": pair.ties, "p_adjusted": pair.p_adjusted}
        for bot, other, wins, losses in (
            (pair.bot, pair.other, pair.wins, pair.losses),
            (pair.other, pair.bot, pair.losses, pair.wins),
        ):
            rate = wins / (wins + losses)
            label = f"{rate:.2f}{star}"
            cells.append(
                {"bot": bot, "other": other, "wins": wins, "losses": losses, "win_rate": rate, "label": label, **known}
            )
    return cells


def _rank_probabilities(shown: FigureInput, order: list[str]) -> Drawn:
    rows = [
        {"bot": each.bot, "rank": rank, "probability": probability, "label": _two_digits(probability)}
        for each in shown.analysis.ranking.bots
        for rank, probability in enumerate(each.rank_probabilities, start=1)
        if probability > 0
    ]
    base = alt.Chart(data(rows)).encode(
        x=alt.X("rank:O", title="probability of each rank", axis=alt.Axis(labelAngle=0, ticks=False)),
        y=alt.Y("bot:N", sort=order, title=None, axis=None),
        tooltip=["bot:N", "rank:O", alt.Tooltip("probability:Q", format=".3f")],
    )
    squares = base.mark_rect(stroke="#ffffff").encode(
        color=alt.Color("probability:Q", scale=alt.Scale(domain=[0, 1], range=["#f2f2f2", "#0072B2"]), legend=None)
    )
    step = 30 if len(order) <= 12 else 14
    if len(order) > 12:
        return (
            alt.layer(squares)
            .resolve_scale(color="independent")
            .properties(width=step * len(order), height=rows_height(len(order)))
        )
    numbers = base.mark_text(fontSize=10).encode(
        text="label:N", color=alt.condition("datum.probability > 0.6", alt.value("#ffffff"), alt.value("#222222"))
    )
    return (
        alt.layer(squares, numbers)
        .resolve_scale(color="independent")
        .properties(width=step * len(order), height=rows_height(len(order)))
    )


def _hazards(shown: FigureInput, names: list[str]) -> alt.FacetChart | None:
    rows = [
        {
            "bot": each.bot,
            "feature": each.feature,
            "coefficient": each.coefficient,
            "low": each.low,
            "high": each.high,
        }
        for each in shown.analysis.survival.cox
        if each.coefficient is not None and each.low is not None and each.high is not None
    ]
    if not rows:
        return None
    order = [name for name in names if any(row["bot"] == name for row in rows)]
    title = f"coefficient ({percent(shown.analysis.confidence_level)})"
    bars, points = _intervals("coefficient", alt.X("low:Q", title=title), order, names)
    zero = alt.Chart().mark_rule(color="#999999", strokeDash=[3, 3]).encode(x=alt.datum(0))
    return (
        alt.layer(zero, bars, points, data=data(rows))
        .properties(width=180, height=rows_height(len(order)))
        .facet(column=alt.Column("feature:N", sort=["fluency", "sensibleness", "specificity"], title=None))
    )


def _intervals(estimate: str, axis: alt.X, order: list[str], names: list[str]) -> tuple[alt.Chart, alt.Chart]:
    """Draw each bot's interval from `low` to `high` as a bar, and its estimate as a point, without data yet."""
    base = alt.Chart().encode(
        y=alt.Y("bot:N", sort=order, title=None),
        color=bot_colours(names).legend(None),
        tooltip=["bot:N", "feature:N", *(alt.Tooltip(f"{each}:Q", format=".3f") for each in (estimate, "low", "high"))],
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.55).encode(x=axis, x2="high:Q")
    return bars, base.mark_point(filled=True, size=60, opacity=1).encode(x=f"{estimate}:Q")


def _two_digits(probability: float) -> str:
    return "<.01" if probability < 0.005 else f"{probability:.2f}"
