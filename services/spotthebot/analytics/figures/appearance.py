"""How figures look: for a light or a dark page, for a wide page or a phone."""

import textwrap
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from types import MappingProxyType
from typing import Final

from spotthebot.analytics.speakers.domain import OKABE_ITO, ON_DARK, PEOPLE
from spotthebot.contracts.analytics.figures import Theme, Width

LETTER: Final = 0.62
"""A letter's mean width in pixels, for each pixel of its height, in the wide fonts of some browsers."""


@dataclass(frozen=True)
class Colours:
    """The colours that are not of bots or people: page, text, secondary text, grid, neutral areas, reference lines."""

    surface: str
    ink: str
    soft: str
    grid: str
    neutral: str
    guide: str


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels: the whole figure, the longest name of a bot, text, titles."""

    total: int
    names: int
    text: int
    title: int

    def lines(self, text: str, size: int) -> list[str]:
        """Return a text in lines that fit into the figure, at this size of text."""
        return textwrap.wrap(text, int(self.total / size / LETTER), break_on_hyphens=False)


COLOURS: Final[Mapping[Theme, Colours]] = MappingProxyType(
    {
        "light": Colours("#ffffff", "#1d1d1f", "#5a5a62", "#e3e1dc", "#efeeea", "#8c8a85"),
        "dark": Colours("#1b1d21", "#ececf0", "#aeafb8", "#36383f", "#2b2d33", "#8f9099"),
    }
)
LAYOUTS: Final[Mapping[Width, Layout]] = MappingProxyType(
    {
        "wide": Layout(total=720, names=170, text=12, title=16),
        "narrow": Layout(total=340, names=112, text=13, title=16),
    }
)
"""A phone of 390 px has 358 px without the margins of a page, one of 360 px has 328: text stays above 12 px on both."""
OF_DARK_PAGES: Final[Mapping[str, str]] = MappingProxyType(
    dict(
        zip(
            (*astuple(COLOURS["light"]), *OKABE_ITO, PEOPLE.colour),
            (*astuple(COLOURS["dark"]), *ON_DARK, PEOPLE.colour_dark),
            strict=True,
        )
    )
)
"""The dark colour for each light one; dark and light figures differ in nothing else."""
