"""What all figures share: their data, their colours, their titles, and what stands where there is nothing to draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import altair as alt

from spotthebot.analytics.stats import HUMAN
from spotthebot.contracts.analytics import Analysis, Stability

Spec: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Mapping[str, Any]]
Drawn: TypeAlias = Any
"""A chart or a layered one: altair's own methods return Any."""

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8B6F47", "#7F3C8D")
"""Okabe and Ito's colours, which the colour-blind tell apart; yellow, too pale for lines, is replaced by two others."""
_PEOPLE: Final = "#333333"
_TEXT: Final = "#222222"
_WIDTH: Final = 420


@dataclass(frozen=True)
class FigureInput:
    """What a figure shows; `stability` is None where it was not computed."""

    analysis: Analysis
    stability: Stability | None


def ranked_names(analysis: Analysis) -> list[str]:
    """Return the bots from best to worst, people last."""
    bots = [each.bot for each in analysis.ranking.bots]
    others = [each.bot for each in analysis.fooling_rates if each.bot not in bots and each.bot != HUMAN]
    return [*bots, *others, *([HUMAN] if any(each.bot == HUMAN for each in analysis.fooling_rates) else [])]


def bot_colours(names: Sequence[str]) -> alt.Color:
    """Give each bot the same colour in every figure of a campaign, by its rank; people are dark grey."""
    bots = [name for name in names if name != HUMAN]
    colours = [PALETTE[at % len(PALETTE)] for at in range(len(bots))] + [_PEOPLE] * (HUMAN in names)
    return alt.Color("bot:N", scale=alt.Scale(domain=list(names), range=colours), sort=list(names), title=None)


def dashes(names: Sequence[str]) -> alt.StrokeDash:
    """Dash the lines of people, and those of bots whose colour occurs a second or third time."""
    patterns = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
    bots = [name for name in names if name != HUMAN]
    chosen = [patterns[at // len(PALETTE) % len(patterns)] for at in range(len(bots))] + [[4, 4]] * (HUMAN in names)
    return alt.StrokeDash("bot:N", scale=alt.Scale(domain=list(names), range=chosen), sort=list(names), title=None)


def data(rows: Rows) -> alt.InlineData:
    """Put rows into the spec itself."""
    return alt.InlineData(values=[dict(row) for row in rows])


def finish(chart: alt.TopLevelMixin, title: str, analysis: Analysis, *notes: str) -> Spec:
    """Title a chart, say below what it stands on, and return its Vega-Lite spec."""
    counts = analysis.counts
    stands_on = (
        f"{analysis.campaign}: {counts.annotations:,} annotations of {counts.annotated_conversations:,} conversations"
        f" by {counts.annotators:,} {'simulated ' if counts.simulated_annotators else ''}annotators"
    )
    warnings = ["preliminary: annotations are still missing"] if analysis.preliminary else []
    subtitle = [stands_on, *(note for note in notes if note), *warnings]
    configured = chart.properties(title=alt.TitleParams(title, subtitle=subtitle, anchor="start", offset=14))
    styled = (
        configured.configure_view(stroke=None)
        .configure_title(fontSize=15, subtitleFontSize=11, color=_TEXT, subtitleColor="#555555", subtitlePadding=4)
        .configure_axis(
            labelColor=_TEXT, titleColor=_TEXT, titleFontWeight="normal", gridColor="#e6e6e6", labelLimit=160
        )
        .configure_legend(labelColor=_TEXT, labelLimit=160, symbolStrokeWidth=2.5, symbolOpacity=1, symbolLimit=0)
        .configure_header(labelColor=_TEXT, labelFontSize=12)
    )
    spec: Spec = styled.to_dict()
    spec["background"] = "#ffffff"
    return spec


def nothing_to_draw(title: str, analysis: Analysis, why: str) -> Spec:
    """Return a figure that says why it is empty."""
    text = (
        alt.Chart(data([{"why": why}]))
        .mark_text(fontSize=13, color="#555555", align="left", baseline="middle")
        .encode(text="why:N", x=alt.value(0), y=alt.value(20))
        .properties(width=_WIDTH, height=40)
    )
    return finish(text, title, analysis)


def rows_height(n: int) -> int:
    """Return the height of a chart with one row for each of n bots."""
    return max(60, 24 * n)


def percent(level: float) -> str:
    """Write a confidence level as people do.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:g} %"
