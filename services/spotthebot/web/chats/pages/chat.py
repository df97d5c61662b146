"""`/chat/{collection_id}`: a person chats with bots one after the other, rates each bot, and compares the bots.

The pages send requests with this frontend's own key, which never reaches a browser. Answers to the browser name no bot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Header, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from spotthebot.contracts.annotation.panels import SIGNATURE_PARAMETER
from spotthebot.contracts.conversations.chat_entries import (
    ChatIn,
    ChatTermsOut,
)
from spotthebot.contracts.conversations.chats import (
    DIALOGUE_LIKERT,
    SCORES,
    ChatOut,
    ChatState,
    ChatTurnIn,
    Compares,
    Question,
)
from spotthebot.contracts.wire import LONGEST_ID, LONGEST_WORDS
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.page_errors import wants_page
from spotthebot.web.catalogues import Texts
from spotthebot.web.chats.domain import ChatPerson, Step, latest_of, next_of, ratings_of
from spotthebot.web.chats.errors import ChatLinkExpired, IdNotSigned, NoChatYet, NotSayable, WhoIsMissing
from spotthebot.web.chats.forms import OVERALL, read_preferences, read_scores
from spotthebot.web.chats.pages.links import Person, chats_of, opened, person_of, remembering
from spotthebot.web.deps import Pages, ServicesOfFrontend
from spotthebot.web.layout.domain import Numbers
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.resources import resources_of
from spotthebot.web.sessions import address_of, count_failed_link
from spotthebot.web.streams import EventStream, events_of
from spotthebot.web.visitors.errors import EntryLinkNeeded

router = APIRouter(prefix="/chat/{collection_id}", route_class=PageRoute, include_in_schema=False)


@router.get("/enter")
async def enter(
    request: Request, services: ServicesOfFrontend, collection_id: UUID, entry: Annotated[str, Query()] = ""
) -> Response:
    """Open a chat link. Admit the person whom the link is for, or the person whom a panel names in the URL.

    A person with a chat continues this chat.
    """
    link = opened(request, entry)
    if link is None or link.collection_id != collection_id or link.until < datetime.now(UTC):
        count_failed_link(request)
        raise EntryLinkNeeded
    interactor = link.interactor or request.query_params.get(link.parameter, "").strip()
    if not interactor or len(interactor) > LONGEST_ID or not interactor.isprintable():
        raise WhoIsMissing(parameter=link.parameter)
    if not link.is_signed(interactor, request.query_params.get(SIGNATURE_PARAMETER, "")):
        count_failed_link(request)
        raise IdNotSigned
    theirs = await chats_of(services, collection_id, interactor, link=link.name)
    known = person_of(request)
    if known is None or (known.collection_id, known.interactor) != (collection_id, interactor):
        known = ChatPerson(collection_id, interactor, link.name, link.until, chat_id=latest_of(theirs))
    return remembering(request, known.coming_by(link))


@router.get("")
async def show(request: Request, pages: Pages, person: Person, services: ServicesOfFrontend) -> Response:
    """Show the person's next step."""
    conversations = await services.conversations()
    if person.chat_id is None:
        terms = await conversations.get_chat_terms(person.collection_id, person.interactor)
        return pages.page(request, "chats/welcome.html.jinja", person=person, terms=terms)
    chat = await conversations.get_chat(person.chat_id)
    left: ChatTermsOut | None = None
    if chat.state is not ChatState.CHATTING:
        left = await conversations.get_chat_terms(person.collection_id, person.interactor)
        if left.consent is not None and (chat.state is not ChatState.RATED or left.chats_left):  # it was withdrawn
            return pages.page(request, "chats/welcome.html.jinja", person=person, terms=left)
    if next_of(chat, person.scores).step is Step.SEND:
        chat = await conversations.rate_chat(chat.id, ratings_of(chat, person.scores))
        left = await conversations.get_chat_terms(person.collection_id, person.interactor)
    return _page(request, pages, person, chat, terms=left)


@router.post("/begin")
async def begin(
    request: Request,
    person: Person,
    services: ServicesOfFrontend,
    consent: Annotated[str, Form(pattern="^([0-9a-f]{64})?$")] = "",
) -> Response:
    """Begin a chat, or continue the open one.

    A person who has rated a chat sees the end of that chat, unless the collection says how many conversations a person
    may have, and another chat fits. `consent` is the hash of the text that the person has read and consents to.
    """
    conversations = await services.conversations()
    theirs = await chats_of(services, person.collection_id, person.interactor)
    rated = [each.id for each in theirs if each.state is ChatState.RATED]
    if rated and not (await conversations.get_chat_terms(person.collection_id, person.interactor)).chats_left:
        return remembering(request, replace(person, chat_id=rated[-1]))
    goes_on = any(each.state in {ChatState.CHATTING, ChatState.RATING} for each in theirs)
    if not goes_on and not person.has_current_link(datetime.now(UTC)):
        raise ChatLinkExpired
    wish = ChatIn(
        collection_id=person.collection_id,
        interactor=person.interactor,
        link=person.link,
        max_people=person.most or None,
        address=address_of(request) if person.is_shared else None,
        consent_sha256=consent or None,
    )
    chat = await conversations.start_chat(wish)
    return remembering(
        request, replace(person, chat_id=chat.id, scores=person.scores if chat.id == person.chat_id else {})
    )


@router.get("/state")
async def state(person: Person, services: ServicesOfFrontend) -> Response:
    """Return the chat as JSON, for the page's script."""
    return _as_json(await (await services.conversations()).get_chat(_chat_of(person)))


@router.get("/events")
async def events(
    request: Request,
    person: Person,
    services: ServicesOfFrontend,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    last_event_id: Annotated[int, Header(ge=0, lt=2**31)] = 0,
) -> Response:
    """Forward the chat's events after the last one that the browser received; 204 if no more events will come.

    Each stream uses its own connection to the service, so that streams take no connection from other pages. The streams
    of a person, of a link and of the whole process are limited. Raises TooManyStreams; the script then polls the state.
    """
    chat_id, last = _chat_of(person), max(after, last_event_id)
    chat = await (await services.conversations()).get_chat(chat_id)
    if chat.state is not ChatState.CHATTING and last >= chat.last_event:
        return Response(status_code=204)
    resources = resources_of(request)
    end = resources.streams.open(f"{person.collection_id} {person.interactor}", f"{person.collection_id} {person.link}")
    return EventStream(events_of(resources.settings, chat_id, last), end)


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
    """Send the person's turn to the bot. A turn that is sent twice is stored once."""
    text = text.replace("\r\n", "\n").strip()
    say = pages.texts_for(request)
    if not text or "\0" in text:
        raise NotSayable(sentence=say("chat.nothing_said"))
    if len(text) > LONGEST_WORDS:
        count = Numbers(say.language).count
        raise NotSayable(sentence=say("chat.too_long", characters=count(len(text)), limit=count(LONGEST_WORDS)))
    chat_id = _chat_of(person)
    conversations = await services.conversations()
    turn = ChatTurnIn(number=number, text=text)
    chat = await conversations.say_in_chat(chat_id, turn, idempotency_key=f"{chat_id}-{number}-{position}")
    return _to_page(person) if wants_page(request) else _as_json(chat)


@router.post("/advance")
async def advance(person: Person, services: ServicesOfFrontend, number: Annotated[int, Form(ge=1, le=100)]) -> Response:
    """End the conversation `number` if it is still open. A second click does not end another conversation."""
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
    """Keep the scores of a finished conversation, or report the questions without a score."""
    typed = await typed_in(request)
    conversations = await services.conversations()
    chat = await conversations.get_chat(_chat_of(person))
    coming = next_of(chat, person.scores)
    if coming.step is not Step.RATE or coming.number != number:  # sent twice, or in another tab
        return _to_page(person)
    found = read_scores(typed, chat.questions)
    if found.missing:
        return _page(request, pages, person, chat, chosen=typed, missing=found.missing)
    return remembering(request, person.with_scores(number, [found.answers[each.name] for each in chat.questions]))


@router.post("/preferred")
async def compare(request: Request, pages: Pages, person: Person, services: ServicesOfFrontend) -> Response:
    """Send all ratings to the service, with the conversations that were better, or report the missing comparisons."""
    typed = await typed_in(request)
    conversations = await services.conversations()
    chat = await conversations.get_chat(_chat_of(person))
    if next_of(chat, person.scores).step is not Step.COMPARE:
        return _to_page(person)
    by_question = [each.name for each in chat.questions] if chat.compares is Compares.EACH_QUESTION else []
    found = read_preferences(typed, [*by_question, OVERALL])
    if found.missing:
        return _page(request, pages, person, chat, chosen=typed, missing=found.missing)
    preferences = {name: found.answers[name] for name in by_question}
    ratings = ratings_of(chat, person.scores, preferred=found.answers[OVERALL], preferences=preferences)
    await conversations.rate_chat(chat.id, ratings)
    return _to_page(person)


def _page(
    request: Request,
    pages: Pages,
    person: ChatPerson,
    chat: ChatOut,
    *,
    chosen: Mapping[str, str] = MappingProxyType({}),
    missing: Sequence[str] = (),
    terms: ChatTermsOut | None = None,
) -> Response:
    coming = next_of(chat, person.scores)
    texts = pages.texts_for(request)
    return pages.page(
        request,
        f"chats/{coming.step}.html.jinja",
        status=422 if missing else 200,
        person=person,
        chat=chat,
        nth=coming.number,
        asked=_asked(texts, chat.questions),
        compared=_compared(texts, chat),
        chosen=chosen,
        missing=missing,
        terms=terms,
        longest=LONGEST_WORDS,
        scores=SCORES,
    )


def _asked(texts: Texts, questions: Sequence[Question]) -> dict[str, str]:
    """Return the text of each question by its name.

    Questions of ABC-Eval are in the reader's language, others as written.
    """
    return {
        each.name: texts(f"chat.questions.{each.name}") if each in DIALOGUE_LIKERT else each.text for each in questions
    }


def _compared(texts: Texts, chat: ChatOut) -> dict[str, str]:
    """Return the text of each comparison of two conversations by its name, as `_asked` does for scores."""
    found = {
        each.name: texts(f"chat.comparisons.{each.name}") if each in DIALOGUE_LIKERT else each.comparison or each.text
        for each in chat.questions
    }
    return found | {
        OVERALL: texts("chat.compare.overall" if chat.compares is Compares.EACH_QUESTION else "chat.compare.title")
    }


def _chat_of(person: ChatPerson) -> UUID:
    if person.chat_id is None:
        raise NoChatYet
    return person.chat_id


def _to_page(person: ChatPerson) -> Response:
    return RedirectResponse(f"/chat/{person.collection_id}", status_code=303)


def _as_json(chat: ChatOut) -> Response:
    return JSONResponse(chat.model_dump(mode="json"))
