"""The view of a visitor: the dashboard's filters, which are in the address of every link and figure."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Query

from spotthebot.clients.analytics_parameters import CampaignMeasures, FigureParameters, Parameters
from spotthebot.contracts.analytics.choices import Filter, Unit, Weighting
from spotthebot.contracts.analytics.figures import Theme, Width
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.annotation.studies import MAX_SCORE_SETS

Confidence = Literal["90", "95", "99"]
Weak = Literal["standard", "50", "60", "70", "75", "80", "90"]
UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)
FILTERS: Final[tuple[Filter, ...]] = get_args(Filter)
LEVELS: Final[tuple[Confidence, ...]] = get_args(Confidence)
WEAK: Final[tuple[Weak, ...]] = get_args(Weak)
_STANDARD: Final = ParametersIn()


@dataclass(frozen=True)
class View:
    """The settings by which results are computed. `confidence` is the confidence level of intervals in percent.

    `weak` is the percentage of right labels below which annotators are weak, or "standard" for the service's shares.
    `scores` and `latency` add measures without annotators.
    """

    unit: Unit = _STANDARD.unit
    weighting: Weighting = _STANDARD.weighting
    filter: Filter = _STANDARD.filter
    confidence: Confidence = "95"
    weak: Weak = "standard"
    scores: tuple[UUID, ...] = ()
    latency: bool = False

    @property
    def parameters(self) -> Parameters:
        """Return the settings as parameters of `analytics`."""
        found: Parameters = {
            "unit": self.unit,
            "weighting": self.weighting,
            "filter": self.filter,
            "confidence_level": int(self.confidence) / 100,
        }
        return found if self.weak == "standard" else {**found, "weak_thresholds": [int(self.weak) / 100]}

    @property
    def of_measures(self) -> CampaignMeasures:
        """Return the settings as parameters of a campaign's measures."""
        return {**self.parameters, "scores": self.scores, "latency": self.latency, "plugins": []}

    @property
    def query(self) -> str:
        """Return the settings as the query of a page's address, without standard values."""
        standard = View()
        chosen = {name: value for name, value in vars(self).items() if value != getattr(standard, name)}
        return urlencode(chosen, doseq=True)

    def address(self, path: str, **more: str) -> str:
        """Return a page's address with these settings and `more` in its query."""
        query = "&".join(part for part in (self.query, urlencode(more)) if part)
        return f"{path}?{query}" if query else path


async def _view(
    unit: Annotated[Unit, Query()] = View.unit,
    weighting: Annotated[Weighting, Query()] = View.weighting,
    filter: Annotated[Filter, Query()] = View.filter,  # noqa: A002 - its name in the address
    confidence: Annotated[Confidence, Query()] = View.confidence,
    weak: Annotated[Weak, Query()] = View.weak,
    scores: Annotated[tuple[UUID, ...], Query(max_length=MAX_SCORE_SETS)] = (),
    latency: Annotated[bool, Query()] = False,  # noqa: FBT002 - in the address
) -> View:
    return View(unit, weighting, filter, confidence, weak, scores, latency)


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
