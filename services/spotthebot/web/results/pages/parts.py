"""The parts of a dashboard: the data that each part requests from the services, and the template that shows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

from fastapi import Request
from markupsafe import Markup

from spotthebot.clients import AsyncAnalytics
from spotthebot.contracts.analytics.analyses import AnalysisJobOut, AnalysisState
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.results import RankingOut
from spotthebot.contracts.analytics.sections import SectionName, SectionProblem, SectionsOut
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.verdicts import PairVerdictOut
from spotthebot.contracts.analytics.wins import WinRates
from spotthebot.contracts.annotation.annotations import FEATURES
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.web.claims.domain import claim, survival_claim
from spotthebot.web.claims.pages import writer_of_claims
from spotthebot.web.clients import Services
from spotthebot.web.rendering import Renderer
from spotthebot.web.results.domain import decided_pairs
from spotthebot.web.results.errors import NoSuchPart, NotComputed
from spotthebot.web.results.pages.views import View

_Result = TypeVar("_Result", bound=Provenance)
_STABILITY: Final = "stability"
_NO_GAMES: Final = "No two bots met in these conversations, so there are no games."
_CLAIM: Final = "claim"
_IMPORT: Final = "import"
_VERDICTS_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Part:
    """A part of a dashboard: its template, and the content that the template shows."""

    template: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class _Answers:
    """The services' answers for the parts of a page.

    `analyses` is empty if none of the parts shows analyses, `verdicts` if none shows verdicts.
    """

    campaign: CampaignOut
    sections: SectionsOut
    analyses: Sequence[AnalysisJobOut]
    verdicts: Sequence[PairVerdictOut]


class _NoResult(Exception):
    """The annotations do not allow a result."""


@dataclass(frozen=True)
class _Kind:
    """The sections that a part requests, and the function that makes its template's content from the answers.

    A part with `has_figure` is shown without its figure if there is no ranking of bots: each figure needs a ranking.
    """

    sections: tuple[SectionName, ...]
    content: Callable[[_Answers], dict[str, Any]]
    has_figure: bool = False


async def load_part(services: Services, campaign: CampaignOut, name: str, view: View) -> Part:
    """Load one part of a dashboard. While the campaign runs, its results may be some seconds old.

    Raises NoSuchPart, and the errors of the services.
    """
    if name not in _KINDS:
        raise NoSuchPart
    return (await load_parts(services, campaign, [name], view, recent=True))[name]


async def load_parts(
    services: Services,
    campaign: CampaignOut,
    names: Sequence[str],
    view: View,
    *,
    recent: bool,
    wait_seconds: float | None = None,
) -> dict[str, Part]:
    """Load several parts with one request, and return the parts whose results arrive within `wait_seconds`.

    With `recent`, results of a running campaign may be some seconds old. If the annotations do not allow a result, the
    part shows the reason.
    """
    analytics = await services.analytics()
    sections = list(dict.fromkeys(section for name in names for section in _KINDS[name].sections))
    found = await analytics.sections(
        campaign.id, sections=sections, wait_seconds=wait_seconds, recent=recent, **view.parameters
    )
    analyses = await _list_analyses(analytics, campaign.id) if _STABILITY in names else ()
    is_running = campaign.state not in ENDED and campaign.mode != _IMPORT
    verdicts = await _list_verdicts(analytics, campaign.id) if _CLAIM in names and is_running else ()
    answers = _Answers(campaign, found, analyses, verdicts)
    pending = set(found.pending)
    return {name: _part(name, view, answers) for name in names if pending.isdisjoint(_KINDS[name].sections)}


def _part(name: str, view: View, answers: _Answers) -> Part:
    kind, ranking = _KINDS[name], answers.sections.ranking
    shared = {"campaign": answers.campaign, "view": view, "name": name, "revision": answers.sections.revision}
    try:
        content = kind.content(answers)
    except _NoResult as refused:
        return Part("results/parts/nothing.html.jinja", {**shared, "why": str(refused)})
    is_drawn = not (kind.has_figure and isinstance(ranking, SectionProblem))
    return Part(f"results/parts/{name}.html.jinja", {**shared, **content, "is_drawn": is_drawn})


async def _list_verdicts(analytics: AsyncAnalytics, campaign_id: UUID) -> Sequence[PairVerdictOut]:
    return [each async for each in analytics.list_verdicts(campaign_id, page_size=_VERDICTS_AT_ONCE)]


async def _list_analyses(analytics: AsyncAnalytics, campaign_id: UUID) -> Sequence[AnalysisJobOut]:
    return [each async for each in analytics.list_analyses(campaign_id=campaign_id)]


def _of(section: _Result | SectionProblem | None) -> _Result:
    """Return the result in a section; raises _NoResult if the section has none."""
    if section is None or isinstance(section, SectionProblem):
        raise _NoResult("" if section is None else section.detail)
    return section


def show_part(pages: Renderer, request: Request, part: Part, *, paper: bool = False) -> Markup:
    """Return a part as HTML. If its results are some seconds old, the part shows their time.

    On paper, all figures are loaded, in light colours.
    """
    shown = pages.part(request, part.template, **part.content, claimed=writer_of_claims(pages, request), paper=paper)
    result: Provenance | None = part.content.get("result")
    if result is None or result.as_of is None:
        return shown
    return shown + pages.part(request, "results/as_of.html.jinja", as_of=result.as_of, counts=result.counts)


def _section(key: str) -> Callable[[_Answers], dict[str, Any]]:
    """Return a function that makes a part's content from the section `key`, with no change to the section's result."""

    def content(answers: _Answers) -> dict[str, Any]:
        found = _of(getattr(answers.sections, key))
        return _marked(found, **{key: getattr(found, key)})

    return content


def _claim(answers: _Answers) -> dict[str, Any]:
    ranking, win_rates = _of(answers.sections.ranking), _of(answers.sections.win_rates)
    verdicts = decided_pairs(answers.verdicts) if answers.verdicts else None
    return {"claim": claim(ranking, win_rates), "verdicts": verdicts, "result": ranking}


def _win_rates(answers: _Answers) -> dict[str, Any]:
    found = _of(answers.sections.win_rates)
    _require_games(found.win_rates)
    return _marked(found, win_rates=found.win_rates)


def _require_games(found: WinRates) -> None:
    """Raise _NoResult if there is no game: no two bots met."""
    if not any(each.wins + each.losses + each.ties for each in found.pairs):
        raise _NoResult(_NO_GAMES)


def _segments(answers: _Answers) -> dict[str, Any]:
    found = _of(answers.sections.segments)
    if not found.segments:
        raise _NoResult(_NO_GAMES)
    return _marked(found, segments=found.segments)


def _fooling_rates(answers: _Answers) -> dict[str, Any]:
    found = _of(answers.sections.fooling_rates)
    place = {each.name: at for at, each in enumerate(found.speakers)}
    rates = sorted(found.fooling_rates, key=lambda each: place.get(each.bot, len(place)))
    return _marked(found, fooling_rates=rates)


def _survival(answers: _Answers) -> dict[str, Any]:
    found = _of(answers.sections.survival)
    return _marked(found, survival=found.survival, claim=survival_claim(found))


def _features(answers: _Answers) -> dict[str, Any]:
    found = _of(answers.sections.features)
    _require_games(found.features.fluency)
    rates = {
        feature: {each.bot: each for each in getattr(found.features, feature).bots} for feature in (*FEATURES, "ssa")
    }
    return _marked(found, rates=rates)


def _time(answers: _Answers) -> dict[str, Any]:
    found, campaign = _of(answers.sections.time), answers.campaign
    pay = campaign.pay_per_package
    return _marked(found, time=found.time, pay=None if pay is None else pay * campaign.submitted)


def _stability(answers: _Answers) -> dict[str, Any]:
    ranking, jobs = answers.sections.ranking, answers.analyses
    return {
        "speakers": {each.name: each for each in ranking.speakers} if isinstance(ranking, RankingOut) else {},
        "stability": _latest(jobs, "stability"),
        "more_data": _latest(jobs, "more_data"),
        "underway": [each for each in jobs if each.state in {AnalysisState.QUEUED, AnalysisState.RUNNING}],
        "failed": next((each for each in jobs[-2:] if each.state is AnalysisState.FAILED), None),
    }


async def find_analysis(analytics: AsyncAnalytics, campaign_id: UUID, kind: str) -> AnalysisJobOut:
    """Return the latest complete analysis of a kind; raises NotComputed."""
    found = _latest(await _list_analyses(analytics, campaign_id), kind)
    if found is None:
        raise NotComputed
    return found


def _latest(jobs: Sequence[AnalysisJobOut], kind: str) -> AnalysisJobOut | None:
    complete = [each for each in jobs if each.kind == kind and each.state is AnalysisState.COMPLETE]
    return complete[-1] if complete else None


def _marked(found: Any, **content: Any) -> dict[str, Any]:  # noqa: ANN401 - a result of any kind
    """Return `content` together with the result and its speakers' marks, which all templates need."""
    speakers: dict[str, Speaker] = {each.name: each for each in found.speakers}
    return {"result": found, "speakers": speakers, **content}


_KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        _CLAIM: _Kind(("ranking", "win-rates"), _claim),
        "ranking": _Kind(("ranking",), _section("ranking")),
        "win-rates": _Kind(("win-rates",), _win_rates),
        "fooling-rates": _Kind(("fooling-rates",), _fooling_rates),
        "survival": _Kind(("survival", "ranking"), _survival, has_figure=True),
        "features": _Kind(("features", "ranking"), _features, has_figure=True),
        "segments": _Kind(("segments", "ranking"), _segments, has_figure=True),
        _STABILITY: _Kind(("ranking",), _stability),
        "agreement": _Kind(("agreement",), _section("agreement")),
        "annotators": _Kind(("annotators",), _section("annotators")),
        "time": _Kind(("time",), _time),
    }
)
PARTS: Final = tuple(_KINDS)
"""The names of the parts, in the order of the page."""
