"""The first page of an annotator, and the pages for consent, a note against a block, and the end of a package."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation, Conflict, PeerRefused, RateLimited
from spotthebot.contracts.annotation.assignments import AppealIn, AssignmentOut, AssignmentState, ClaimIn
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.entries import ConsentIn, ConsentWithdrawalIn, EntryIn
from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER, CompletionOut
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.wire import LONGEST_WORDS
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import POLICY
from spotthebot.web.deps import AnnotationService, AnnotatorOfCampaign, AnnotatorSessions, EnteredCampaign, Pages
from spotthebot.web.entries.domain import CAN_APPEAL, entry_parameters, state_of_refusal
from spotthebot.web.packages.pages import get_own_package
from spotthebot.web.protocols.pages import script_texts, worded_for
from spotthebot.web.rendering import Renderer
from spotthebot.web.sessions import address_of, count_failed_link
from spotthebot.web.visitors.domain import Annotator
from spotthebot.web.visitors.errors import EntryLinkNeeded

router = APIRouter(prefix="/annotate/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_MTURK = "https://worker.mturk.com https://workersandbox.mturk.com"
_POLICY_OF_PREVIEWS = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {_MTURK}")


class _Said(StrEnum):
    """The last action of an annotator outside of the work: on consent, a package given back, or an appeal."""

    DECLINED = "declined"
    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"
    APPEALED = "appealed"


@router.get("")
async def show(
    request: Request,
    pages: Pages,
    sessions: AnnotatorSessions,
    service: AnnotationService,
    campaign_id: UUID,
    next_package: Annotated[bool, Query(alias="next")] = False,  # noqa: FBT002 - a parameter of the address
) -> Response:
    """With an entry link, admit the annotator and redirect to this page without the link.

    Without a link, show the annotator's package. If the annotator gets no package, show the reason. An annotator who
    submitted a package gets the next one only on request, so that coming back takes none.
    """
    if ENTRY_PARAMETER in request.query_params:
        return await _enter(request, pages, sessions, service)
    annotator = await EnteredCampaign()(request)
    campaign = await service.get_campaign(campaign_id)
    try:
        takes_new = next_package or not annotator.completion
        assignment = await service.claim_package(
            campaign_id, ClaimIn(annotator=annotator.annotator, link=annotator.link_id, new=takes_new)
        )
    except Conflict as refused:
        return _show_refusal(request, pages, annotator, campaign, refused)
    if next_package:
        return _back(campaign_id)
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
    completion = "" if entry.completion is None else entry.completion.model_dump_json()
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
    state = state_of_refusal(refusal, campaign.state, has_completion=bool(annotator.completion))
    return _show_state(request, pages, annotator, campaign, state)


def _show_state(request: Request, pages: Renderer, annotator: Annotator, campaign: CampaignOut, state: str) -> Response:
    """Show the reason why the annotator has nothing to do now.

    Show also the code or form for the panel, if work was done.
    """
    completion = CompletionOut.model_validate_json(annotator.completion) if annotator.completion else None
    return with_form_to(
        completion,
        pages.page(
            request,
            "entries/state.html.jinja",
            campaign=campaign,
            state=state,
            can_appeal=state in CAN_APPEAL,
            is_game=campaign.protocol == GAME and state not in set(_Said),
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


@router.post("/consent")
async def consent(
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    campaign_id: UUID,
    answer: Annotated[str, Form()] = "",
    sha256: Annotated[str, Form(pattern="^[0-9a-f]{64}$")] = "",
) -> Response:
    """Store the annotator's consent to the text of the form, or show the page for an annotator who declined."""
    if answer != "yes":
        return _back(campaign_id, _Said.DECLINED)
    await service.give_consent(
        campaign_id, ConsentIn(annotator=annotator.annotator, sha256=sha256, link=annotator.link_id)
    )
    return _back(campaign_id)


@router.post("/consent/withdraw")
async def withdraw(service: AnnotationService, annotator: AnnotatorOfCampaign, campaign_id: UUID) -> Response:
    """Withdraw the annotator's consent."""
    await service.withdraw_consent(campaign_id, ConsentWithdrawalIn(annotator=annotator.annotator))
    return _back(campaign_id, _Said.WITHDRAWN)


@router.post("/appeal")
async def appeal(
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    campaign_id: UUID,
    note: Annotated[str, Form(max_length=LONGEST_WORDS)] = "",
) -> Response:
    """Store the annotator's note against a block or a failed training."""
    if note.strip():
        await service.appeal_block(campaign_id, AppealIn(annotator=annotator.annotator, note=note))
    return _back(campaign_id, _Said.APPEALED if note.strip() else None)


@router.get("/said/{said}")
async def show_said(
    request: Request, pages: Pages, service: AnnotationService, annotator: AnnotatorOfCampaign, said: _Said
) -> Response:
    """Show the page that confirms the annotator's last action, such as an appeal."""
    return _show_state(request, pages, annotator, await service.get_campaign(annotator.campaign_id), said)


@router.get("/done/{assignment_id}")
async def show_done(
    request: Request,
    pages: Pages,
    sessions: AnnotatorSessions,
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    campaign_id: UUID,
    assignment_id: UUID,
) -> Response:
    """Thank the annotator for a submitted package. The page shows the completion code, or the way back to the panel."""
    assignment = await get_own_package(service, assignment_id, annotator)
    if assignment.state is not AssignmentState.SUBMITTED:
        response = _back(campaign_id)
        if assignment.state is AssignmentState.REJECTED:
            sessions.write(response, replace(annotator, completion="").to_session())
        return response
    submitted = await service.submit_assignment(assignment_id)  # it answers again what it answered before
    completion = submitted.completion or CompletionOut(kind="code", code=submitted.completion_code, url=None, fields={})
    response = pages.page(
        request,
        "entries/done.html.jinja",
        campaign=await service.get_campaign(campaign_id),
        completion=completion,
        packages_left=submitted.packages_left,
        items=len(assignment.items),
        is_game=assignment.protocol.name == GAME,
    )
    known = replace(annotator, completion=completion.model_dump_json(), pseudonym=submitted.pseudonym)
    sessions.write(response, known.to_session())
    return with_form_to(completion, response)


def _back(campaign_id: UUID, said: _Said | None = None) -> Response:
    path = "" if said is None else f"/said/{said}"
    return RedirectResponse(f"/annotate/{campaign_id}{path}", status_code=303)
