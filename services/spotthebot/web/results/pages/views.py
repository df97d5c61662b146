"""The view of a visitor: the dashboard's filters, which are in the address of every link and figure."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlencode

from fastapi import Depends, Query

from spotthebot.clients.analytics_parameters import FigureParameters, Parameters
from spotthebot.contracts.analytics.choices import Filter, Unit
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.provenance import ParametersIn

Confidence = Literal["90", "95", "99"]
UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
FILTERS: Final[tuple[Filter, ...]] = get_args(Filter)
LEVELS: Final[tuple[Confidence, ...]] = get_args(Confidence)
_STANDARD: Final = ParametersIn()


@dataclass(frozen=True)
class View:
    """The settings by which results are computed. `confidence` is the confidence level of intervals in percent."""

    unit: Unit = _STANDARD.unit
    filter: Filter = _STANDARD.filter
    confidence: Confidence = "95"

    @property
    def parameters(self) -> Parameters:
        """Return the settings as parameters of `analytics`."""
        return {"unit": self.unit, "filter": self.filter, "confidence_level": int(self.confidence) / 100}

    @property
    def query(self) -> str:
        """Return the settings as the query of a page's address, without standard values."""
        standard = View()
        chosen = {name: value for name, value in vars(self).items() if value != getattr(standard, name)}
        return urlencode(chosen)

    def address(self, path: str, **more: str) -> str:
        """Return a page's address with these settings and `more` in its query."""
        query = "&".join(part for part in (self.query, urlencode(more)) if part)
        return f"{path}?{query}" if query else path


async def _view(
    unit: Annotated[Unit, Query()] = View.unit,
    filter: Annotated[Filter, Query()] = View.filter,  # noqa: A002 - its name in the address
    confidence: Annotated[Confidence, Query()] = View.confidence,
) -> View:
    return View(unit, filter, confidence)


ViewOfResults = Annotated[View, Depends(_view)]


async def _look(
    theme: Annotated[Theme, Query()] = "light",
    width: Annotated[Width, Query()] = "wide",
    heading: Annotated[bool, Query()] = True,  # noqa: FBT002 - in the address
) -> FigureParameters:
    return {"theme": theme, "width": width, "heading": heading}


Look = Annotated[FigureParameters, Depends(_look)]
"""How a figure is drawn: its theme, width and heading."""


def drawn_as(view: View, look: FigureParameters, *, recent: bool) -> FigureParameters:
    """Return the parameters of a figure for `analytics`: its settings and its look.

    With `recent`, it may be some seconds old.
    """
    return {**look, **view.parameters, "recent": recent}
