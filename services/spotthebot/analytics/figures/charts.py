"""The parts that all figures share: data, marks, titles, and the text of a figure without data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import altair as alt

from spotthebot.analytics.figures.appearance import COLOURS, LAYOUTS, Colours, Layout
from spotthebot.analytics.figures.labels import room_for, short
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
"""The opacity of a full tint: text in `ink` stays readable on it in both themes."""


class Canvas(ABC):
    """How a figure is drawn, and the words on its data in the heading."""

    theme: Theme
    width: Width
    heading: bool

    @property
    @abstractmethod
    def stands_on(self) -> tuple[str, ...]:
        """Return sentences about the data: how much there is, and why they may change."""

    @property
    @abstractmethod
    def for_pages(self) -> Mapping[str, Any]:
        """Return more of the figure's `usermeta`, for pages that show it."""

    @property
    def colours(self) -> Colours:
        """Return the colours of everything but bots and people."""
        return COLOURS[self.theme]

    @property
    def layout(self) -> Layout:
        """Return the sizes for this width of figure."""
        return LAYOUTS[self.width]

    @property
    def is_narrow(self) -> bool:
        """Return whether panels are placed below each other, instead of side by side."""
        return self.width == "narrow"


@dataclass(frozen=True)
class FigureInput(Canvas):
    """The data of a figure, and how it is drawn. `stability` is None if it was not computed."""

    analysis: Analysis
    stability: Stability | None
    theme: Theme = "light"
    width: Width = "wide"
    heading: bool = True

    @property
    def stands_on(self) -> tuple[str, ...]:
        """Return the campaign with its counts, and whether annotations are missing."""
        analysis, counts = self.analysis, self.analysis.counts
        counted = (
            f"{analysis.campaign}: {counts.annotations:,} annotations of {counts.annotated_conversations:,}"
            f" conversations by {counts.annotator_words}"
        )
        warnings = ["preliminary: annotations are still missing"] if analysis.preliminary else []
        if analysis.as_of is not None:
            warnings.append(f"as of {analysis.as_of:%Y-%m-%d %H:%M:%S} UTC")
        return counted, *warnings

    @property
    def for_pages(self) -> Mapping[str, Any]:
        """Return the speakers' marks, and the moment of recent results."""
        analysis = self.analysis
        return {
            "speakers": [each.model_dump(mode="json") for each in analysis.speakers],
            "as_of": None if analysis.as_of is None else analysis.as_of.isoformat(),
        }

    def colour_of(self, speaker: Speaker) -> str:
        """Return a speaker's colour in this theme."""
        return speaker.colour if self.theme == "light" else speaker.colour_dark


class Marks:
    """The colours, dashes and shapes of the speakers that a figure shows, in the order of the speakers."""

    def __init__(self, shown: FigureInput, rows: Rows) -> None:
        names = {row["bot"] for row in rows}
        self.speakers = [each for each in shown.analysis.speakers if each.name in names]
        self.names = [each.name for each in self.speakers]
        self._layout = shown.layout
        self._colours = [shown.colour_of(each) for each in self.speakers]
        self._extent = self.room - 8  # a browser's font may be wider than the renderer's

    def colour(self, *, legend: alt.Legend | None = None) -> alt.Color:
        """Return the encoding by colour. It has no legend by default, for figures with names next to the marks."""
        scale = alt.Scale(domain=self.names, range=self._colours)
        return alt.Color("bot:N", scale=scale, sort=self.names, title=None, legend=legend)

    def dash(self) -> alt.StrokeDash:
        """Return the encoding that gives each speaker's line its dash."""
        scale = alt.Scale(domain=self.names, range=[list(each.dash) for each in self.speakers])
        return alt.StrokeDash("bot:N", scale=scale, sort=self.names, title=None, legend=None)

    def shape(self, *, legend: alt.Legend | None = None) -> alt.Shape:
        """Return the encoding that gives each speaker's points their shape."""
        scale = alt.Scale(domain=self.names, range=[each.shape for each in self.speakers])
        return alt.Shape("bot:N", scale=scale, sort=self.names, title=None, legend=legend)

    def rows(self, *, labels: bool = True) -> alt.Y:
        """Return the encoding with one row for each speaker; the names are on the left."""
        shortened = short(self._layout.names, self._layout.text)
        axis = (
            alt.Axis(
                ticks=False,
                domain=False,
                grid=False,
                labelPadding=8,
                labelExpr=shortened,
                labelLimit=0,
                minExtent=self._extent,
            )
            if labels
            else None
        )
        return alt.Y("bot:N", sort=self.names, title=None, axis=axis, scale=alt.Scale(paddingInner=0, paddingOuter=0))

    def legend(self) -> alt.Legend:
        """Return a legend with the names of the speakers."""
        return alt.Legend(labelExpr=short(self._layout.names, self._layout.text))

    @property
    def room(self) -> int:
        """The width in pixels that the names on the left need."""
        return min(self._layout.names, room_for(max(self.names, key=len, default=""), self._layout.text)) + 8

    def height(self) -> int:
        """Return the height of a panel with one row for each speaker."""
        return max(40, 28 * len(self.names))


def data(rows: Rows) -> alt.InlineData:
    """Return rows as data that are part of the spec."""
    return alt.InlineData(values=[dict(row) for row in rows])


def intervals(
    estimate: str, axis: alt.X, rows: Rows, marks: Marks, *, labels: bool = True, source: bool = True
) -> list[Drawn]:
    """Draw a row for each speaker: a bar from `low` to `high`, and a point at the estimate.

    Without `source` the layers have no data: facets add the data later. Screen readers read the points, whose
    descriptions contain the bounds.
    """

    def of(chosen: Rows) -> alt.Chart:
        return alt.Chart(data(chosen)) if source else alt.Chart()

    digits = [alt.Tooltip(f"{each}:Q", format=".3f") for each in (estimate, "low", "high")]
    named = ["bot:N", *(["feature:N"] if rows and "feature" in rows[0] else [])]
    tooltip = [*map(alt.Tooltip, named), *digits]
    bars = (
        of([row for row in rows if row["low"] is not None])
        .mark_rule(strokeWidth=8, opacity=0.4, aria=False)
        .encode(x=axis, x2=alt.X2("high:Q"), y=marks.rows(labels=labels), color=marks.colour())
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


def finish(shown: Canvas, chart: alt.TopLevelMixin, title: str, caption: str, *notes: str) -> Spec:
    """Return a chart's Vega-Lite spec with its title, and with the caption and notes below it.

    If the figure has no heading, only the notes are added. `usermeta` has the caption and the speakers' marks, for
    pages that show the figure.
    """
    colours, layout = shown.colours, shown.layout
    counted, *warnings = shown.stands_on
    # Not by altair's own methods: each copies the whole chart. What is drawn is valid, or a test of figures fails.
    spec: Spec = chart.to_dict(validate=False)
    if shown.heading:
        lines = _lines(layout, counted, *notes, *warnings)
        heading = layout.lines(title, layout.title)
        spec["title"] = {"text": heading, "subtitle": lines, "anchor": "start", "frame": "bounds", "offset": 16}
    elif notes:
        spec["title"] = {
            "text": _lines(layout, *notes),
            "anchor": "start",
            "frame": "bounds",
            "offset": 16,
            "fontSize": layout.text,
            "fontWeight": "normal",
            "lineHeight": layout.text + 4,
            "color": colours.soft,
        }
    for part, options in _styles(shown).items():
        spec["config"][part] = spec["config"].get(part, {}) | options
    spec["background"] = colours.surface
    spec["description"] = caption
    spec["usermeta"] = {"caption": caption, "theme": shown.theme, "width": shown.width, **shown.for_pages}
    return spec


def _styles(shown: Canvas) -> dict[str, Spec]:
    """Return the configuration of a figure's parts in Vega-Lite."""
    colours, layout = shown.colours, shown.layout
    return {
        "view": {"stroke": None},
        "title": {
            "fontSize": layout.title,
            "fontWeight": 600,
            "subtitleFontSize": layout.text,
            "color": colours.ink,
            "subtitleColor": colours.soft,
            "subtitlePadding": 6,
            "subtitleLineHeight": layout.text + 4,
        },
        "axis": {
            "labelColor": colours.ink,
            "titleColor": colours.soft,
            "titleFontWeight": "normal",
            "labelFontSize": layout.text,
            "titleFontSize": layout.text,
            "titlePadding": 8,
            "gridColor": colours.grid,
            "domainColor": colours.guide,
            "tickColor": colours.guide,
        },
        "legend": {
            "labelColor": colours.ink,
            "titleColor": colours.soft,
            "labelFontSize": layout.text,
            "titleFontSize": layout.text,
            "titleFontWeight": "normal",
            "labelLimit": 0,
            "symbolStrokeWidth": 0,
            "symbolSize": 90,
            "symbolOpacity": 1,
            "symbolLimit": 0,
            "rowPadding": 5,
            **({"orient": "bottom", "columns": 2, "columnPadding": 16} if shown.is_narrow else {}),
        },
        "header": {"labelColor": colours.ink, "labelFontSize": layout.text + 1, "labelFontWeight": 600},
    }


def _lines(layout: Layout, *notes: str) -> list[str]:
    return [line for note in notes for line in layout.lines(note, layout.text)]


def nothing_to_draw(shown: Canvas, title: str, why: str) -> Spec:
    """Return an empty figure with the reason."""
    layout = shown.layout
    lines = layout.lines(why, layout.text + 1)
    text = (
        alt.Chart(data([{"why": lines}]))
        .mark_text(fontSize=layout.text + 1, color=shown.colours.soft, align="left", baseline="top")
        .encode(text=alt.Text("why:N"), x=alt.value(0), y=alt.value(4))
        .properties(width=layout.total - 20, height=20 * len(lines) + 8)
    )
    return finish(shown, text, title, why)
