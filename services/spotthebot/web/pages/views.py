"""How a visitor looks at results: the filters of the dashboard, which every link and figure of it passes on."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import Depends, Query

from spotthebot.clients.analytics import FigureParameters, Parameters
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.provenance import Filter, Unit

Confidence = Literal["90", "95", "99"]
UNITS: Final = ("annotation", "segment", "conversation")
FILTERS: Final = ("complete_packages", "none")
LEVELS: Final = ("90", "95", "99")


@dataclass(frozen=True)
class View:
    """What results are computed by; `confidence` is the level of intervals in percent."""

    unit: Unit = "annotation"
    filter: Filter = "complete_packages"
    confidence: Confidence = "95"

    @property
    def parameters(self) -> Parameters:
        """Return them as `analytics` takes them."""
        return {"unit": self.unit, "filter": self.filter, "confidence_level": int(self.confidence) / 100}

    @property
    def query(self) -> str:
        """Return them as the query of an address of ours; what is standard is left out."""
        standard = View()
        chosen = {name: value for name, value in vars(self).items() if value != getattr(standard, name)}
        return urlencode(chosen)

    def address(self, path: str, **more: str) -> str:
        """Return an address of ours with this view, and more in its query."""
        query = "&".join(part for part in (self.query, urlencode(more)) if part)
        return f"{path}?{query}" if query else path


async def _view(
    unit: Annotated[Unit, Query()] = "annotation",
    filter: Annotated[Filter, Query()] = "complete_packages",  # noqa: A002 - its name in the address
    confidence: Annotated[Confidence, Query()] = "95",
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
"""How a figure is drawn."""


def drawn_as(view: View, look: FigureParameters, *, recent: bool) -> FigureParameters:
    """Return what a figure shows, `recent` or of now, and how it is drawn, as `analytics` takes them."""
    return {**look, **view.parameters, "recent": recent}
