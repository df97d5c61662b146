"""The figures of a report, drawn for a page and for a phone, and the style that gives both the colours of the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from spotthebot.analytics.figures.appearance import COLOURS, OF_DARK_PAGES
from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.figures.charts import FigureInput, Spec
from spotthebot.analytics.figures.renderer import render
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.figures import Width
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.speakers import Shape, Speaker

_SYMBOLS: Final[Mapping[Shape, str]] = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
}


@dataclass(frozen=True)
class Drawing:
    """A figure: its wide spec, both drawings as SVG in light colours, and the text below it."""

    spec: Spec
    wide: str
    narrow: str
    caption: str


def draw_figure(name: str, analysis: Analysis, stability: Stability | None) -> Drawing:
    """Draw one of `FIGURES`."""
    return draw(lambda width: FIGURES[name](FigureInput(analysis, stability, "light", width)))


def draw(spec_of: Callable[[Width], Spec]) -> Drawing:
    """Draw a figure for a page and for a phone; the renderer escapes all text."""
    wide, narrow = spec_of("wide"), spec_of("narrow")
    return Drawing(wide, render(wide, "svg").decode(), render(narrow, "svg").decode(), wide["description"])


def mark_of(speaker: Speaker) -> Markup:
    """Return the symbol before a speaker's name, in the speaker's shape and colour."""
    symbol = _SYMBOLS[speaker.shape]
    return Markup('<span class="mark {}" aria-hidden="true">{}</span>').format(_colour_class(speaker.colour), symbol)


def colour_rules() -> Markup:
    """Return the CSS of the page's and the speakers' colours, which recolours figures on a dark page."""
    speakers = [light for light in OF_DARK_PAGES if light not in vars(COLOURS["light"]).values()]
    light = [_variables("light"), *(f".{_colour_class(each)} {{ color: {each}; }}" for each in speakers)]
    dark = [
        _variables("dark"),
        *(f".{_colour_class(each)} {{ color: {OF_DARK_PAGES[each]}; }}" for each in speakers),
        *(
            f'figure [{paint}="{before}"] {{ {paint}: {after}; }}'
            for before, after in OF_DARK_PAGES.items()
            for paint in ("fill", "stroke")
        ),
    ]
    rules = [*light, "@media screen and (prefers-color-scheme: dark) {", *dark, "}"]
    return Markup("\n".join(rules))  # noqa: S704 - only our own constants


def _colour_class(colour: str) -> str:
    return f"c{colour.removeprefix('#').lower()}"


def _variables(theme: str) -> str:
    colours = vars(COLOURS["light" if theme == "light" else "dark"])
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"
