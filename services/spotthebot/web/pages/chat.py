"""`/chat/{collection_id}`: a person talks to bots one after the other, rates each, and compares them.

The pages act with this frontend's own key, which never reaches a browser; what the browser gets names no bot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Form, Header, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from spotthebot.contracts.annotation.panels import SIGNATURE_PARAMETER
from spotthebot.contracts.conversations.chats import (
    DIALOGUE_LIKERT,
    ChatIn,
    ChatOut,
    ChatState,
    ChatTurnIn,
    PersonsChatOut,
    Question,
)
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.page_errors import wants_page
from spotthebot.web.catalogues import Texts
from spotthebot.web.clients import Services
from spotthebot.web.domain.chats import ChatPerson, Step, latest_of, next_of, ratings_of, read_scores
from spotthebot.web.domain.errors import (
    ChatLinkExpired,
    EntryLinkNeeded,
    IdNotSigned,
    NoChatYet,
    NotSayable,
    WhoIsMissing,
)
from spotthebot.web.domain.numbers import Numbers
from spotthebot.web.pages.chat_access import Person, opened, person_of, remembering
from spotthebot.web.pages.deps import Pages, ServicesOfFrontend
from spotthebot.web.pages.forms import typed_in
from spotthebot.web.sessions import address_of, count_failed_link
from spotthebot.web.streams import EventStream, OpenStreams, events_of

router = APIRouter(prefix="/chat/{collection_id}", route_class=PageRoute, include_in_schema=False)
_LONGEST_TURN: Final = 2000
_LONGEST_NAME: Final = 200
_PREFERRED: Final[Mapping[str, Literal[1, 2] | None]] = {"1": 1, "2": 2, "0": None}


@router.get("/enter")
async def enter(
    request: Request, services: ServicesOfFrontend, collection_id: UUID, entry: Annotated[str, Query()] = ""
) -> Response:
    """Let in the person whom a link was given to, or whom a panel names in the URL, to the chat that they have."""
    link = opened(request, entry)
    if link is None or link.collection_id != collection_id or link.until < datetime.now(UTC):
        count_failed_link(request)
        raise EntryLinkNeeded
    interactor = link.interactor or request.query_params.get(link.parameter, "").strip()
    if not interactor or len(interactor) > _LONGEST_NAME or not interactor.isprintable():
        raise WhoIsMissing(parameter=link.parameter)
    if not link.is_signed(interactor, request.query_params.get(SIGNATURE_PARAMETER, "")):
        count_failed_link(request)
        raise IdNotSigned
    theirs = await _chats_of(services, collection_id, interactor, link=link.name)
    known = person_of(request)
    if known is None or (known.collection_id, known.interactor) != (collection_id, interactor):
        known = ChatPerson(collection_id, interactor, link.name, link.until, chat_id=latest_of(theirs))
    return remembering(request, known.coming_by(link))


@router.get("")
async def show(request: Request, pages: Pages, person: Person, services: ServicesOfFrontend) -> Response:
    """Show what the person does next."""
    if person.chat_id is None:
        return pages.page(request, "chat/welcome.html.jinja", person=person)
    conversations = await services.conversations()
    chat = await conversations.get_chat(person.chat_id)
    if next_of(chat, person.scores).step is Step.SEND:
        chat = await conversations.rate_chat(chat.id, ratings_of(chat, person.scores, None))
    return _page(request, pages, person, chat)


@router.post("/begin")
async def begin(request: Request, person: Person, services: ServicesOfFrontend) -> Response:
    """Begin a chat, or go on with the one that is open; who finished one, perhaps in another browser, is told so."""
    theirs = await _chats_of(services, person.collection_id, person.interactor)
    rated = [each.id for each in theirs if each.state is ChatState.RATED]
    if rated:
        return remembering(request, replace(person, chat_id=rated[-1]))
    goes_on = any(each.state is not ChatState.ABANDONED for each in theirs)
    if not goes_on and not person.has_current_link(datetime.now(UTC)):
        raise ChatLinkExpired
    wish = ChatIn(
        collection_id=person.collection_id,
        interactor=person.interactor,
        link=person.link,
        max_people=person.most or None,
        address=address_of(request) if person.is_shared else None,
    )
    chat = await (await services.conversations()).start_chat(wish)
    return remembering(
        request, replace(person, chat_id=chat.id, scores=person.scores if chat.id == person.chat_id else {})
    )


@router.get("/state")
async def state(person: Person, services: ServicesOfFrontend) -> Response:
    """Return the chat for the page's script."""
    return _as_json(await (await services.conversations()).get_chat(_chat_of(person)))


@router.get("/events")
async def events(
    request: Request,
    person: Person,
    services: ServicesOfFrontend,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    last_event_id: Annotated[int, Header(ge=0, lt=2**31)] = 0,
) -> Response:
    """Pass on the chat's events after the one that the browser had last; 204 where none will come.

    Each stream has a connection of its own to the service: it takes none from the pages of others. So a person, a link
    and all together have so many: raises TooManyStreams, and the script asks for the state now and then.
    """
    chat_id, last = _chat_of(person), max(after, last_event_id)
    chat = await (await services.conversations()).get_chat(chat_id)
    if chat.state is not ChatState.CHATTING and last >= chat.last_event:
        return Response(status_code=204)
    streams: OpenStreams = request.app.state.streams
    end = streams.open(f"{person.collection_id} {person.interactor}", f"{person.collection_id} {person.link}")
    return EventStream(events_of(request.app.state.settings, chat_id, last), end)


@router.post("/turns")
async def speak(
    request: Request,
    pages: Pages,
    person: Person,
    services: ServicesOfFrontend,
    number: Annotated[int, Form(ge=1, le=100)],
    position: Annotated[int, Form(ge=0, le=2000)],
    text: Annotated[str, Form()] = "",
) -> Response:
    """Say something to the partner; a turn that is sent twice is said once."""
    text = text.replace("\r\n", "\n").strip()
    say = pages.texts_for(request)
    if not text or "\0" in text:
        raise NotSayable(sentence=say("chat.nothing_said"))
    if len(text) > _LONGEST_TURN:
        count = Numbers(say.language).count
        raise NotSayable(sentence=say("chat.too_long", characters=count(len(text)), limit=count(_LONGEST_TURN)))
    chat_id = _chat_of(person)
    conversations = await services.conversations()
    turn = ChatTurnIn(number=number, text=text)
    chat = await conversations.say_in_chat(chat_id, turn, idempotency_key=f"{chat_id}-{number}-{position}")
    return _to_page(person) if wants_page(request) else _as_json(chat)


@router.post("/advance")
async def advance(person: Person, services: ServicesOfFrontend, number: Annotated[int, Form(ge=1, le=100)]) -> Response:
    """End the conversation `number`, unless it is over already: a second click ends no other one."""
    conversations = await services.conversations()
    chat = await conversations.get_chat(_chat_of(person))
    if chat.state is ChatState.CHATTING and chat.conversations[-1].number == number:
        await conversations.advance_chat(chat.id, idempotency_key=f"{chat.id}-{number}-advance")
    return _to_page(person)


@router.post("/scores")
async def rate(
    request: Request,
    pages: Pages,
    person: Person,
    services: ServicesOfFrontend,
    number: Annotated[int, Form(ge=1, le=100)],
) -> Response:
    """Keep the scores of a conversation that is over, or name the questions without one."""
    typed = await typed_in(request)
    conversations = await services.conversations()
    chat = await conversations.get_chat(_chat_of(person))
    coming = next_of(chat, person.scores)
    if coming.step is not Step.RATE or coming.number != number:  # sent twice, or in another tab
        return _to_page(person)
    scores, missing = read_scores(typed, chat.questions)
    if missing:
        return _page(request, pages, person, chat, chosen=scores, missing=missing)
    return remembering(request, person.with_scores(number, [scores[each.name] for each in chat.questions]))


@router.post("/preferred")
async def compare(
    request: Request,
    pages: Pages,
    person: Person,
    services: ServicesOfFrontend,
    preferred: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Send all ratings, with the partner that was preferred."""
    conversations = await services.conversations()
    chat = await conversations.get_chat(_chat_of(person))
    if next_of(chat, person.scores).step is not Step.COMPARE:
        return _to_page(person)
    if preferred not in _PREFERRED:
        return _page(request, pages, person, chat, missing=["preferred"])
    await conversations.rate_chat(chat.id, ratings_of(chat, person.scores, _PREFERRED[preferred]))
    return _to_page(person)


async def _chats_of(
    services: Services, collection_id: UUID, interactor: str, *, link: str | None = None
) -> list[PersonsChatOut]:
    """Return a person's chats, oldest first; a `link` that was revoked is refused."""
    conversations = await services.conversations()
    return [each async for each in conversations.list_persons_chats(collection_id, interactor, link=link)]


def _page(
    request: Request,
    pages: Pages,
    person: ChatPerson,
    chat: ChatOut,
    *,
    chosen: dict[str, int] | None = None,
    missing: Sequence[object] = (),
) -> Response:
    coming = next_of(chat, person.scores)
    return pages.page(
        request,
        f"chat/{coming.step}.html.jinja",
        status=422 if missing else 200,
        person=person,
        chat=chat,
        nth=coming.number,
        asked=_asked(pages.texts_for(request), chat.questions),
        chosen=chosen or {},
        missing=missing,
        longest=_LONGEST_TURN,
    )


def _asked(texts: Texts, questions: Sequence[Question]) -> dict[str, str]:
    """Return the questions by name, those of ABC-Eval in the reader's language, others as the study words them."""
    return {
        each.name: texts(f"chat.questions.{each.name}") if each in DIALOGUE_LIKERT else each.text for each in questions
    }


def _chat_of(person: ChatPerson) -> UUID:
    if person.chat_id is None:
        raise NoChatYet
    return person.chat_id


def _to_page(person: ChatPerson) -> Response:
    return RedirectResponse(f"/chat/{person.collection_id}", status_code=303)


def _as_json(chat: ChatOut) -> Response:
    return JSONResponse(chat.model_dump(mode="json"))
