"""What all figures share: their data, their marks, their titles, and what stands where there is nothing to draw."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import altair as alt

from spotthebot.analytics.figures.appearance import COLOURS, LAYOUTS, Colours, Layout
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.speakers import Speaker

Spec: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Mapping[str, Any]]
Drawn: TypeAlias = Any
"""A chart or a layered one: altair's own methods return Any."""

SHARE: Final = alt.Scale(domain=[0, 1])
TINT: Final = 0.4
"""The opacity of a full tint: text in `ink` is read on it in both themes."""
_LETTER: Final = 0.62
"""A letter's mean width in pixels, for each pixel of its height."""


@dataclass(frozen=True)
class FigureInput:
    """What a figure shows, and how; `stability` is None where it was not computed."""

    analysis: Analysis
    stability: Stability | None
    theme: Theme = "light"
    width: Width = "wide"
    heading: bool = True

    @property
    def colours(self) -> Colours:
        """What is neither a bot nor people."""
        return COLOURS[self.theme]

    @property
    def layout(self) -> Layout:
        """The sizes."""
        return LAYOUTS[self.width]

    @property
    def is_narrow(self) -> bool:
        """Whether panels stand below each other."""
        return self.width == "narrow"

    def colour_of(self, speaker: Speaker) -> str:
        """Return a speaker's colour in this theme."""
        return speaker.colour if self.theme == "light" else speaker.colour_dark


class Marks:
    """The colours, dashes and shapes of the speakers that a figure shows, in their order."""

    def __init__(self, shown: FigureInput, rows: Rows) -> None:
        names = {row["bot"] for row in rows}
        self.speakers = [each for each in shown.analysis.speakers if each.name in names]
        self.names = [each.name for each in self.speakers]
        self._layout = shown.layout
        self._colours = [shown.colour_of(each) for each in self.speakers]

    def colour(self, *, legend: alt.Legend | None = None) -> alt.Color:
        """Return the encoding by colour; without a legend where names stand beside."""
        scale = alt.Scale(domain=self.names, range=self._colours)
        return alt.Color("bot:N", scale=scale, sort=self.names, title=None, legend=legend)

    def dash(self) -> alt.StrokeDash:
        """Return the encoding of lines."""
        scale = alt.Scale(domain=self.names, range=[list(each.dash) for each in self.speakers])
        return alt.StrokeDash("bot:N", scale=scale, sort=self.names, title=None, legend=None)

    def shape(self, *, legend: alt.Legend | None = None) -> alt.Shape:
        """Return the encoding of points."""
        scale = alt.Scale(domain=self.names, range=[each.shape for each in self.speakers])
        return alt.Shape("bot:N", scale=scale, sort=self.names, title=None, legend=legend)

    def rows(self, *, labels: bool = True) -> alt.Y:
        """Return the encoding by a row for each speaker, names at its left."""
        shortened = short(self._layout.names, self._layout.text)
        axis = (
            alt.Axis(ticks=False, domain=False, grid=False, labelPadding=8, labelExpr=shortened, labelLimit=0)
            if labels
            else None
        )
        return alt.Y("bot:N", sort=self.names, title=None, axis=axis, scale=alt.Scale(paddingInner=0, paddingOuter=0))

    def legend(self) -> alt.Legend:
        """Return a legend of the names."""
        return alt.Legend(labelExpr=short(self._layout.names, self._layout.text))

    def room(self, shown: FigureInput) -> int:
        """Return the pixels that the names at the left need."""
        return min(shown.layout.names, room_for(max(self.names, key=len, default=""), shown.layout.text)) + 8

    def height(self) -> int:
        """Return the height of a panel with a row for each speaker."""
        return max(40, 28 * len(self.names))


def short(room: int, size: int) -> str:
    """Return the Vega expression of a label that leaves out the middle of a name without room: ends tell names apart.

    >>> short(100, 10)
    "length(datum.label) > 16 ? slice(datum.label, 0, 7) + '…' + slice(datum.label, -8) : datum.label"
    """
    letters = int(room / size / _LETTER)
    begin = (letters - 1) // 2
    end = letters - 1 - begin
    shortened = f"slice(datum.label, 0, {begin}) + '…' + slice(datum.label, -{end})"
    return f"length(datum.label) > {letters} ? {shortened} : datum.label"


def room_for(text: str, size: int) -> int:
    """Return the pixels that a text needs, about.

    >>> room_for("ten letter", 10)
    62
    """
    return round(len(text) * size * _LETTER)


def data(rows: Rows) -> alt.InlineData:
    """Put rows into the spec itself."""
    return alt.InlineData(values=[dict(row) for row in rows])


def intervals(
    estimate: str, axis: alt.X, rows: Rows, marks: Marks, *, labels: bool = True, source: bool = True
) -> list[Drawn]:
    """Draw a row for each speaker: its interval from `low` to `high` as a bar as wide as it is, its estimate a point.

    Without `source` the layers have no data yet, for facets. Screen readers read the points, which name their bounds.
    """

    def of(chosen: Rows) -> alt.Chart:
        return alt.Chart(data(chosen)) if source else alt.Chart()

    digits = [alt.Tooltip(f"{each}:Q", format=".3f") for each in (estimate, "low", "high")]
    tooltip = ["bot:N", *(["feature:N"] if rows and "feature" in rows[0] else []), *digits]
    bars = (
        of([row for row in rows if row["low"] is not None])
        .mark_rule(strokeWidth=8, opacity=0.4, strokeCap="round", aria=False)
        .encode(x=axis, x2="high:Q", y=marks.rows(labels=labels), color=marks.colour())
    )
    points = (
        of(rows)
        .mark_point(filled=True, size=75, opacity=1)
        .encode(
            x=alt.X(f"{estimate}:Q"),
            y=marks.rows(labels=labels),
            color=marks.colour(),
            shape=marks.shape(),
            tooltip=tooltip,
        )
    )
    return [bars, points]


def finish(shown: FigureInput, chart: alt.TopLevelMixin, title: str, caption: str, *notes: str) -> Spec:
    """Title a chart, say below what it stands on, and return its Vega-Lite spec; without a heading the notes alone.

    `usermeta` has the caption and the speakers' marks, for pages that show the figure.
    """
    analysis, colours, layout = shown.analysis, shown.colours, shown.layout
    counts = analysis.counts
    stands_on = (
        f"{analysis.campaign}: {counts.annotations:,} annotations of {counts.annotated_conversations:,} conversations"
        f" by {counts.annotators:,} {'simulated ' if counts.simulated_annotators else ''}annotators"
    )
    warnings = ["preliminary: annotations are still missing"] if analysis.preliminary else []
    if analysis.as_of is not None:
        warnings.append(f"as of {analysis.as_of:%Y-%m-%d %H:%M:%S} UTC")
    if shown.heading:
        lines = _lines(layout, stands_on, *notes, *warnings)
        heading = alt.TitleParams(title, subtitle=lines, anchor="start", frame="bounds", offset=16)
        configured = chart.properties(title=heading)
    elif notes:
        heading = alt.TitleParams(
            _lines(layout, *notes),
            anchor="start",
            frame="bounds",
            offset=16,
            fontSize=layout.text,
            fontWeight="normal",
            lineHeight=layout.text + 4,
            color=colours.soft,
        )
        configured = chart.properties(title=heading)
    else:
        configured = chart
    styled = (
        configured.configure_view(stroke=None)
        .configure_title(
            fontSize=layout.title,
            fontWeight=600,
            subtitleFontSize=layout.text,
            color=colours.ink,
            subtitleColor=colours.soft,
            subtitlePadding=6,
            subtitleLineHeight=layout.text + 4,
        )
        .configure_axis(
            labelColor=colours.ink,
            titleColor=colours.soft,
            titleFontWeight="normal",
            labelFontSize=layout.text,
            titleFontSize=layout.text,
            titlePadding=8,
            gridColor=colours.grid,
            domainColor=colours.guide,
            tickColor=colours.guide,
        )
        .configure_legend(
            labelColor=colours.ink,
            titleColor=colours.soft,
            labelFontSize=layout.text,
            titleFontSize=layout.text,
            titleFontWeight="normal",
            labelLimit=0,
            symbolStrokeWidth=0,
            symbolSize=90,
            symbolOpacity=1,
            symbolLimit=0,
            rowPadding=5,
            **({"orient": "bottom", "columns": 2, "columnPadding": 16} if shown.is_narrow else {}),
        )
        .configure_header(labelColor=colours.ink, labelFontSize=layout.text + 1, labelFontWeight=600)
    )
    spec: Spec = styled.to_dict()
    spec["background"] = colours.surface
    spec["description"] = caption
    spec["usermeta"] = {
        "caption": caption,
        "theme": shown.theme,
        "width": shown.width,
        "speakers": [each.model_dump(mode="json") for each in analysis.speakers],
        "as_of": None if analysis.as_of is None else analysis.as_of.isoformat(),
    }
    return spec


def _lines(layout: Layout, *notes: str) -> list[str]:
    return [line for note in notes for line in textwrap.wrap(note, layout.letters, break_on_hyphens=False)]


def nothing_to_draw(shown: FigureInput, title: str, why: str) -> Spec:
    """Return a figure that says why it is empty."""
    layout = shown.layout
    lines = textwrap.wrap(why, layout.letters)
    text = (
        alt.Chart(data([{"why": lines}]))
        .mark_text(fontSize=layout.text + 1, color=shown.colours.soft, align="left", baseline="top")
        .encode(text="why:N", x=alt.value(0), y=alt.value(4))
        .properties(width=layout.total - 20, height=20 * len(lines) + 8)
    )
    return finish(shown, text, title, why)


def percent(level: float) -> str:
    """Write a confidence level as people do.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:g} %"


def two_digits(share: float) -> str:
    """Write a share as figures do.

    >>> two_digits(0.783), two_digits(1.0), two_digits(0.001), two_digits(0.0)
    ('.78', '1', '<.01', '0')
    """
    if 0 < share < 0.005:
        return "<.01"
    return f"{share:.2f}".removeprefix("0") if share not in {0, 1} else f"{share:.0f}"
