"""`/v1/campaigns/{id}/...`: a campaign's results, which are computed once for its current annotations.

A request names a campaign by its id or its name. All results except `/analysis` are also available as CSV and Parquet.
"""

import json
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.analytics.campaigns.api import RequestedCampaign
from spotthebot.analytics.deps import Analyst, RankReader, RequestParameters
from spotthebot.analytics.games.domain import DEFAULT_PENALTY
from spotthebot.analytics.results.api.deps import (
    RequestedResults,
    SectionParameters,
    SectionsParameters,
    ServiceResources,
)
from spotthebot.analytics.results.domain.analysis import SECTIONS
from spotthebot.analytics.results.domain.tables import section_table
from spotthebot.analytics.results.use_cases.recent_results import RecentResults
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.analytics.results.use_cases.sections import FoundSections
from spotthebot.analytics.table_files.api import TABLES, Form, TableForm, answer, answer_page
from spotthebot.analytics.table_files.domain import table_of
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry, TurnPenalty
from spotthebot.contracts.analytics.provenance import ParametersIn, Provenance
from spotthebot.contracts.analytics.results import (
    AgreementOut,
    Analysis,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    PartnersOut,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)
from spotthebot.contracts.analytics.sections import SectionProblem, SectionsOut
from spotthebot.kit.errors import Conflict
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.pagination import Page, Paging, page_of_list
from spotthebot.kit.web.core.problems import problem_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["results"], route_class=CheckedRoute)

_JSON = "application/json"


@router.get("/win-rates", operation_id="win_rates", response_model=WinRatesOut, responses=TABLES)
async def win_rates(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return wins, losses and ties of each pair, win rates (Eq. 1 of Spot The Bot) and tests."""
    return await _section(form, results, campaign_id, "win-rates", WinRatesOut, parameters)


@router.get("/ranking", operation_id="ranking", response_model=RankingOut, responses=TABLES)
async def ranking(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return the bots best first: win rates, rank ranges, clusters, TrueSkill and Bradley-Terry with ties."""
    return await _section(form, results, campaign_id, "ranking", RankingOut, parameters)


@router.get("/features", operation_id="features", response_model=FeaturesOut, responses=TABLES)
async def features(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return how often each bot was preferred: by each feature, and by sensibleness and specificity together."""
    return await _section(form, results, campaign_id, "features", FeaturesOut, parameters)


@router.get("/segments", operation_id="segments", response_model=SegmentsOut, responses=TABLES)
async def segments(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return win rates and shares of labels by the number of exchanges seen (Table 8 of Spot The Bot)."""
    return await _section(form, results, campaign_id, "segments", SegmentsOut, parameters)


@router.get("/fooling-rates", operation_id="fooling_rates", response_model=FoolingRatesOut, responses=TABLES)
async def fooling_rates(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return how often each speaker is taken for a human."""
    return await _section(form, results, campaign_id, "fooling-rates", FoolingRatesOut, parameters)


@router.get("/survival", operation_id="survival", response_model=SurvivalOut, responses=TABLES)
async def survival(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return survival curves (NPMLE for current-status data), log-rank tests and Cox models of the features."""
    return await _section(form, results, campaign_id, "survival", SurvivalOut, parameters)


@router.get("/partners", operation_id="partners", response_model=PartnersOut, responses=TABLES)
async def partners(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return fooling rates, ranks and survival with and without conversations of people with bots."""
    return await _section(form, results, campaign_id, "partners", PartnersOut, parameters)


@router.get("/agreement", operation_id="agreement", response_model=AgreementOut, responses=TABLES)
async def agreement(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return how often two annotators agree (Table 3 of Spot The Bot), Krippendorff's alpha and Fleiss' kappa."""
    return await _section(form, results, campaign_id, "agreement", AgreementOut, parameters)


@router.get("/annotators", operation_id="annotators", response_model=AnnotatorsOut, responses=TABLES)
async def annotators(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return how often annotators are right, and the ranking without the weak annotators."""
    return await _section(form, results, campaign_id, "annotators", AnnotatorsOut, parameters)


@router.get("/time", operation_id="time", response_model=TimeOut, responses=TABLES)
async def time(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return how long an annotation takes."""
    return await _section(form, results, campaign_id, "time", TimeOut, parameters)


@router.get("/sensitivity", operation_id="sensitivity", response_model=SensitivityOut, responses=TABLES)
async def sensitivity(
    _caller: Analyst,
    form: TableForm,
    results: RequestedResults,
    campaign_id: RequestedCampaign,
    parameters: SectionParameters,
) -> Response:
    """Return the ranking under other choices: another treatment of "unsure", the other filter, the other units."""
    return await _section(form, results, campaign_id, "sensitivity", SensitivityOut, parameters)


@router.get("/leaderboard", operation_id="leaderboard", response_model=Page[LeaderboardEntry], responses=TABLES)
async def leaderboard(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    paging: Paging,
    penalty: Annotated[TurnPenalty, Query()] = DEFAULT_PENALTY,
) -> Response:
    """List the annotators of a game by their points, highest first.

    In a game, annotators open one exchange after the other.

    A right label is worth 1 point at the first exchange, and 1 - penalty at the last exchange. A wrong label is worth
    -1, "unsure" 0. People and bots have the same total weight. Annotators may not see this list, but `annotator-ranks`.
    """
    page = page_of_list(await resources.results.get_leaderboard(campaign_id, penalty=penalty), paging)
    return await answer_page(form, "leaderboard", page, lambda found: table_of(LeaderboardEntry, found))


@router.get("/annotator-ranks", operation_id="list_annotator_ranks")
async def list_annotator_ranks(
    _caller: RankReader, resources: ServiceResources, campaign_id: RequestedCampaign, paging: Paging
) -> Page[AnnotatorRankOut]:
    """List the ranks of a game's annotators, best first. Frontends may show this list to annotators.

    While the campaign runs, the list has ranks without points. The ranks use only conversations that nobody will
    annotate again, and only annotators with at least 40 labelled sides of such conversations. Once the campaign is
    complete or closed, the list has all annotators with their points.
    """
    return page_of_list(await resources.annotator_ranks.list(campaign_id), paging)


@router.get("/analysis", operation_id="analysis", response_model=Analysis)
async def analysis(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestParameters,
) -> Response:
    """Return all results of a campaign in one document, as `stb analyse` writes it."""
    return revalidated(request, await resources.results.get_document(campaign_id, parameters), _JSON)


@router.get("/sections", operation_id="sections", response_model=SectionsOut)
async def sections(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: SectionsParameters,
) -> Response:
    """Return several sections at once, each with its provenance, or with the reason why there is no result.

    The result of a section equals the answer of its own endpoint. With `wait_seconds`, the answer has only results that
    are computed in that time.
    """
    found = await resources.sections.get(campaign_id, parameters)
    path = request.url.path.removesuffix("sections")
    return revalidated(request, _sections_body(campaign_id, found, path), _JSON)


def _sections_body(campaign_id: UUID, found: FoundSections, path: str) -> bytes:
    """Return the answer with several sections. The stored bytes of the results are copied without parsing them."""
    fields: dict[str, bytes] = {
        "campaign_id": json.dumps(str(campaign_id)).encode(),
        "revision": json.dumps(found.revision).encode(),
        "pending": json.dumps(found.pending).encode(),
    }
    for name, section in SECTIONS.items():
        refused = found.refusals.get(name)
        fields[section.key] = found.results.get(name, b"null") if refused is None else _problem(refused, path + name)
    return b"{%s}" % b",".join(b'"%s":%s' % (name.encode(), value) for name, value in fields.items())


def _problem(refused: Conflict, path: str) -> bytes:
    found = problem_of(refused, path).model_dump(include=set(SectionProblem.model_fields))
    return SectionProblem(**found).model_dump_json().encode()


async def _section(
    form: Form,
    results: ResultCache | RecentResults,
    campaign_id: UUID,
    section: str,
    kind: type[Provenance],
    parameters: ParametersIn,
) -> Response:
    body = await results.get(campaign_id, section, parameters)
    return await answer(form, section, body, lambda: section_table(section, kind.model_validate_json(body)))
