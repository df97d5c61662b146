"""The first page of an annotator, with an entry link at first, and later without the link."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation, Conflict, PeerRefused, RateLimited
from spotthebot.contracts.annotation.assignments import AssignmentOut, ClaimIn
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.entries import EntryIn
from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER, CompletionOut
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import POLICY
from spotthebot.web.deps import AnnotationService, AnnotatorSessions, EnteredCampaign, Pages
from spotthebot.web.entries.domain import CAN_APPEAL, entry_parameters, state_of_refusal
from spotthebot.web.protocols.pages import script_texts, worded_for
from spotthebot.web.rendering import Renderer
from spotthebot.web.sessions import address_of, annotator_of, count_failed_link
from spotthebot.web.visitors.domain import Annotator
from spotthebot.web.visitors.errors import EntryLinkNeeded

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_MTURK = "https://worker.mturk.com https://workersandbox.mturk.com"
_POLICY_OF_PREVIEWS = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {_MTURK}")


@router.get("/annotate/{campaign_id}")
async def show(
    request: Request,
    pages: Pages,
    sessions: AnnotatorSessions,
    service: AnnotationService,
    campaign_id: UUID,
) -> Response:
    """With an entry link, admit the annotator and redirect to this page without the link.

    Without a link, show the annotator's package. If the annotator gets no package, show the reason.
    """
    if ENTRY_PARAMETER in request.query_params:
        return await _enter(request, pages, sessions, service)
    annotator = await EnteredCampaign()(request)
    campaign = await service.get_campaign(campaign_id)
    try:
        assignment = await service.claim_package(
            campaign_id, ClaimIn(annotator=annotator.annotator, link=annotator.link_id)
        )
    except Conflict as refused:
        return _show_refusal(request, pages, annotator, campaign, refused)
    return _show_package(request, pages, campaign, assignment)


async def _enter(request: Request, pages: Renderer, sessions: AnnotatorSessions, service: AsyncAnnotation) -> Response:
    if request.headers.get("sec-fetch-dest") == "iframe":
        # Browsers keep no cookie of ours in a frame of another site, so the work needs a window of its own.
        return _framed(pages.page(request, "entries/window.html.jinja", address=str(request.url), preview=False))
    try:
        parameters = entry_parameters(request.query_params.multi_items())
        entry = await service.enter_campaign(EntryIn(parameters=parameters, address=address_of(request)))
    except PeerRefused as refused:
        if not isinstance(refused, Conflict | RateLimited):
            count_failed_link(request)
        raise
    if entry.annotator is None:
        return _framed(pages.page(request, "entries/window.html.jinja", address=None, preview=True))
    known = annotator_of(request)
    completion = "" if entry.completion is None else entry.completion.model_dump_json()
    if known is not None and (known.campaign_id, known.annotator) == (entry.campaign_id, entry.annotator):
        completion = completion or known.completion
    response = RedirectResponse(f"/annotate/{entry.campaign_id}", status_code=303)
    person = Annotator(entry.campaign_id, entry.annotator, entry.link_id, completion, entry.pseudonym or "")
    sessions.write(response, person.to_session())
    return response


def _framed(response: Response) -> Response:
    """Allow Mechanical Turk to show the page in a frame."""
    response.headers["Content-Security-Policy"] = _POLICY_OF_PREVIEWS
    return response


def _show_refusal(
    request: Request, pages: Renderer, annotator: Annotator, campaign: CampaignOut, refused: Conflict
) -> Response:
    refusal = refused.problem.type.rpartition(":")[2]
    if refusal == "consent-required":
        return pages.page(request, "entries/consent.html.jinja", campaign=campaign)
    if refusal == "training-required":
        return pages.page(request, "trainings/training_start.html.jinja", campaign=campaign)
    if refusal == "not-entered":  # erased since, perhaps
        raise EntryLinkNeeded
    state = state_of_refusal(refusal, campaign.state)
    return show_state(request, pages, annotator, state, is_game=campaign.protocol == GAME)


def show_state(
    request: Request, pages: Renderer, annotator: Annotator, state: str, *, is_game: bool = False
) -> Response:
    """Show the reason why the annotator has nothing to do now.

    Show also the code or form for the panel, if work was done.
    """
    completion = CompletionOut.model_validate_json(annotator.completion) if annotator.completion else None
    return with_form_to(
        completion,
        pages.page(
            request,
            "entries/state.html.jinja",
            campaign_id=annotator.campaign_id,
            state=state,
            can_appeal=state in CAN_APPEAL,
            is_game=is_game,
            completion=completion,
        ),
    )


def with_form_to(completion: CompletionOut | None, response: Response) -> Response:
    """Allow the page to send its completion form to the panel. Other completions leave the page unchanged."""
    if completion is not None and completion.kind == "form" and completion.url is not None:
        origin = "/".join(completion.url.split("/")[:3])
        response.headers["Content-Security-Policy"] = POLICY.replace(
            "form-action 'self'", f"form-action 'self' {origin}"
        )
    return response


def _show_package(request: Request, pages: Renderer, campaign: CampaignOut, assignment: AssignmentOut) -> Response:
    shown = {"id", "protocol", "items"}
    assignment = assignment.model_copy(update={"protocol": worded_for(request, pages, assignment.protocol)})
    return pages.page(
        request,
        "packages/package.html.jinja",
        campaign=campaign,
        assignment=assignment,
        is_game=campaign.protocol == GAME,
        data={
            "base": f"/annotate/{campaign.id}",
            "assignment": assignment.model_dump(mode="json", include=shown),
            "texts": script_texts(request, pages),
        },
    )
