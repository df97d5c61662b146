"""The figures of a report, drawn for a page and for a phone, and the style that gives both the colours of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from spotthebot.analytics.figures import FIGURES, FigureInput, Spec, render
from spotthebot.analytics.figures.appearance import COLOURS, OF_DARK_PAGES
from spotthebot.contracts.analytics.analyses import Stability
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
    """A figure: its wide spec, both drawings as SVG in light colours, and what stands under it."""

    spec: Spec
    wide: str
    narrow: str
    caption: str


def draw_figure(name: str, analysis: Analysis, stability: Stability | None) -> Drawing:
    """Draw one of `FIGURES`; the renderer escapes all text."""
    wide, narrow = (FIGURES[name](FigureInput(analysis, stability, "light", width)) for width in ("wide", "narrow"))
    return Drawing(wide, render(wide, "svg").decode(), render(narrow, "svg").decode(), wide["description"])


def mark_of(speaker: Speaker) -> Markup:
    """Return the symbol that stands before a speaker's name, in the speaker's shape and colour."""
    symbol = _SYMBOLS[speaker.shape]
    return Markup('<span class="mark {}" aria-hidden="true">{}</span>').format(_colour_class(speaker.colour), symbol)


def colour_rules() -> Markup:
    """Return the CSS of the page's and the speakers' colours, which recolours figures where the page is dark."""
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
    return Markup("\n".join(rules))  # noqa: S704 - our own constants alone


def _colour_class(colour: str) -> str:
    return f"c{colour.removeprefix('#').lower()}"


def _variables(theme: str) -> str:
    colours = vars(COLOURS["light" if theme == "light" else "dark"])
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"
