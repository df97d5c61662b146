"""`/chat/{collection_id}/consent`: a person who chats withdraws their consent."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.conversations.chat_entries import ChatConsentWithdrawalIn
from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.chats.pages.links import Person, chats_of
from spotthebot.web.deps import Pages, ServicesOfFrontend

router = APIRouter(prefix="/chat/{collection_id}", route_class=PageRoute, include_in_schema=False)


@router.post("/consent/withdraw")
async def withdraw(person: Person, services: ServicesOfFrontend) -> Response:
    """Withdraw the person's consent. The chat that goes on ends."""
    conversations = await services.conversations()
    await conversations.withdraw_chat_consent(
        person.collection_id, ChatConsentWithdrawalIn(interactor=person.interactor)
    )
    return RedirectResponse(f"/chat/{person.collection_id}/withdrawn", status_code=303)


@router.get("/withdrawn")
async def show_withdrawn(request: Request, pages: Pages, person: Person, services: ServicesOfFrontend) -> Response:
    """Show the page that confirms the withdrawal, with the code of a person who rated a chat."""
    theirs = await chats_of(services, person.collection_id, person.interactor)
    has_rated = any(each.state is ChatState.RATED for each in theirs)
    return pages.page(request, "chats/withdrawn.html.jinja", person=person, has_rated=has_rated)
