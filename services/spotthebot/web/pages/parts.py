"""The parts of a dashboard: what each asks of the services, and the template that shows it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from fastapi import Request
from markupsafe import Markup

from spotthebot.clients import AsyncAnalytics, Conflict
from spotthebot.clients.analytics import SectionParameters
from spotthebot.contracts.analytics import AnalysisJobOut, AnalysisState, Provenance, Speaker
from spotthebot.contracts.annotation import CampaignOut
from spotthebot.kit.errors import NotFound
from spotthebot.web.clients import Services
from spotthebot.web.domain.claims import claim, survival_claim
from spotthebot.web.pages.claims import writer_of_claims
from spotthebot.web.pages.views import View
from spotthebot.web.rendering import Renderer

Load = Callable[[Services, CampaignOut, SectionParameters], Awaitable[dict[str, Any]]]


class NoSuchPart(NotFound):
    """A dashboard has no such part."""


class NotComputed(NotFound):
    """This was not computed yet: the dashboard has a button that starts it."""


@dataclass(frozen=True)
class Part:
    """A part as a template shows it."""

    template: str
    content: Mapping[str, Any]


async def load_part(services: Services, campaign: CampaignOut, name: str, view: View, *, recent: bool = False) -> Part:
    """Ask for what a part shows, `recent` or of now; where the annotations do not allow it, the part says why.

    Raises NoSuchPart.
    """
    if name not in _LOADERS:
        raise NoSuchPart
    shared = {"campaign": campaign, "view": view, "name": name}
    parameters: SectionParameters = {**view.parameters, "recent": recent}
    try:
        found, is_drawn = await asyncio.gather(
            _LOADERS[name](services, campaign, parameters), _is_drawn(services, campaign, name, parameters)
        )
    except Conflict as refused:
        return Part("dashboard/parts/nothing.html.jinja", {**shared, "why": refused.problem.detail})
    return Part(f"dashboard/parts/{name}.html.jinja", {**shared, **found, "is_drawn": is_drawn})


async def _is_drawn(services: Services, campaign: CampaignOut, name: str, parameters: SectionParameters) -> bool:
    """Whether the part's figure can be drawn: all figures need what a ranking needs."""
    if name not in _DRAWN:
        return True
    try:
        await (await services.analytics()).ranking(campaign.id, **parameters)
    except Conflict:
        return False
    return True


def show_part(pages: Renderer, request: Request, part: Part, *, paper: bool = False) -> Markup:
    """Return a part as HTML, with its moment where it is not of now; on paper its figures are light and all there."""
    shown = pages.part(request, part.template, **part.content, claimed=writer_of_claims(pages, request), paper=paper)
    result: Provenance | None = part.content.get("result")
    if result is None or result.as_of is None:
        return shown
    return shown + pages.part(request, "dashboard/as_of.html.jinja", as_of=result.as_of, counts=result.counts)


async def _claim(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    analytics = await services.analytics()
    ranking, win_rates = await asyncio.gather(
        analytics.ranking(campaign.id, **parameters), analytics.win_rates(campaign.id, **parameters)
    )
    return {"claim": claim(ranking, win_rates), "result": ranking}


async def _ranking(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).ranking(campaign.id, **parameters)
    return _marked(found, ranking=found.ranking)


async def _win_rates(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).win_rates(campaign.id, **parameters)
    return _marked(found, win_rates=found.win_rates)


async def _fooling_rates(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).fooling_rates(campaign.id, **parameters)
    place = {each.name: at for at, each in enumerate(found.speakers)}
    rates = sorted(found.fooling_rates, key=lambda each: place.get(each.bot, len(place)))
    return _marked(found, fooling_rates=rates)


async def _survival(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).survival(campaign.id, **parameters)
    return _marked(found, survival=found.survival, claim=survival_claim(found))


async def _features(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).features(campaign.id, **parameters)
    rates = {
        feature: {each.bot: each for each in getattr(found.features, feature).bots}
        for feature in ("fluency", "sensibleness", "specificity", "ssa")
    }
    return _marked(found, rates=rates)


async def _segments(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).segments(campaign.id, **parameters)
    return _marked(found, segments=found.segments)


async def _agreement(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).agreement(campaign.id, **parameters)
    return _marked(found, agreement=found.agreement)


async def _annotators(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).annotators(campaign.id, **parameters)
    return _marked(found, annotators=found.annotators)


async def _time(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    found = await (await services.analytics()).time(campaign.id, **parameters)
    pay = campaign.pay_per_package
    return _marked(found, time=found.time, pay=None if pay is None else pay * campaign.submitted)


async def _stability(services: Services, campaign: CampaignOut, parameters: SectionParameters) -> dict[str, Any]:
    analytics = await services.analytics()
    try:
        speakers = (await analytics.ranking(campaign.id, **parameters)).speakers
    except Conflict:
        speakers = ()
    jobs = [each async for each in analytics.list_analyses(campaign_id=campaign.id)]
    return {
        "speakers": {each.name: each for each in speakers},
        "stability": _latest(jobs, "stability"),
        "more_data": _latest(jobs, "more_data"),
        "underway": [each for each in jobs if each.state in {AnalysisState.QUEUED, AnalysisState.RUNNING}],
        "failed": next((each for each in jobs[-2:] if each.state is AnalysisState.FAILED), None),
    }


async def find_analysis(analytics: AsyncAnalytics, campaign_id: UUID, kind: str) -> AnalysisJobOut:
    """Return the latest complete analysis of a kind; raises NotComputed."""
    found = _latest([each async for each in analytics.list_analyses(campaign_id=campaign_id)], kind)
    if found is None:
        raise NotComputed
    return found


def _latest(jobs: list[AnalysisJobOut], kind: str) -> AnalysisJobOut | None:
    complete = [each for each in jobs if each.kind == kind and each.state is AnalysisState.COMPLETE]
    return complete[-1] if complete else None


def _marked(found: Any, **content: Any) -> dict[str, Any]:  # noqa: ANN401 - a result of any kind
    """Add what every result says beside its figures: the speakers' marks and how it was computed."""
    speakers: dict[str, Speaker] = {each.name: each for each in found.speakers}
    return {"result": found, "speakers": speakers, **content}


_DRAWN: Final = frozenset({"survival", "features", "segments"})
_LOADERS: Final[Mapping[str, Load]] = MappingProxyType(
    {
        "claim": _claim,
        "ranking": _ranking,
        "win-rates": _win_rates,
        "fooling-rates": _fooling_rates,
        "survival": _survival,
        "features": _features,
        "segments": _segments,
        "stability": _stability,
        "agreement": _agreement,
        "annotators": _annotators,
        "time": _time,
    }
)
PARTS: Final = tuple(_LOADERS)
"""In the order of the page."""
