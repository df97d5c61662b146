"""Pages for consent and its withdrawal, for a note against a block, and for the end of a package."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.annotation.assignments import AppealIn, AssignmentState
from spotthebot.contracts.annotation.entries import ConsentIn, ConsentWithdrawalIn
from spotthebot.contracts.annotation.panels import CompletionOut
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.wire import LONGEST_WORDS
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import AnnotationService, AnnotatorOfCampaign, AnnotatorSessions, Pages
from spotthebot.web.entries.pages.entry import show_state, with_form_to
from spotthebot.web.packages.pages import get_own_package

router = APIRouter(prefix="/annotate/{campaign_id}", route_class=PageRoute, include_in_schema=False)


class _Said(StrEnum):
    """The last action of an annotator outside of the work: declined or withdrawn consent, or an appeal."""

    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    APPEALED = "appealed"


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
async def show_said(request: Request, pages: Pages, annotator: AnnotatorOfCampaign, said: _Said) -> Response:
    """Show the page that confirms the annotator's last action, such as an appeal."""
    return show_state(request, pages, annotator, said)


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
    if assignment.state in {AssignmentState.LEASED, AssignmentState.EXPIRED}:
        return _back(campaign_id)
    submitted = await service.submit_assignment(assignment_id)  # it answers again what it answered before
    completion = submitted.completion or CompletionOut(kind="code", code=submitted.completion_code, url=None, fields={})
    response = pages.page(
        request,
        "entries/done.html.jinja",
        campaign_id=campaign_id,
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
