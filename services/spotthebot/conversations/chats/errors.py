"""The errors of chats."""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound, TooMany, Unauthenticated, Unavailable


class RatingsIncomplete(Invalid):
    """The ratings do not fit the chat: give each conversation that was not broken off a score for each question."""


class ProgramNameUnusable(Invalid):
    """The program '{name}' has a name in the form of a person's pseudonym (p- and 26 characters): give another one."""


class NoSuchChat(NotFound):
    """There is no chat {chat_id}."""


class NoSuchChatPerson(NotFound):
    """Nobody with the id {person_id} chats in collection {collection_id}: `GET .../chat-people` lists who does."""


class NotForChats(Conflict):
    """The collection '{name}' is not for chats: use a collection with mode 'human_bot'."""


class OtherInteractorKind(Conflict):
    """'{name}' has the kind `{known}` in this collection, not `{kind}`: a kind never changes."""


class CollectionNotOpen(Conflict):
    """The collection '{name}' is {state} and takes no chats."""


class PartnerSpeaksNext(Conflict):
    """The partner speaks next: wait for the event `turn` or `failed`."""


class NotThisConversation(Conflict):
    """Conversation {number} of this chat {fact}: speak in conversation {current}. Your text was not sent."""


class TooFewTurns(Conflict):
    """The conversation has {said} turns and needs {minimum} before the next one: keep talking."""


class ChatEndedMeanwhile(Conflict):
    """The open chat ended a moment ago: send the request again for a new one."""


class ChatIsOver(Conflict):
    """This chat is {state} and takes no more turns."""


class NotTimeToRate(Conflict):
    """This chat is {state}: rate it when all its conversations are over."""


class ChatLinkUsedUp(Conflict):
    """All {limit} places of this link are taken: ask for another link."""


class ConsentToAnotherText(Conflict):
    """This hash does not match the text to consent to: show `consent` of the terms, and send its `sha256`."""


class ConsentRequired(Forbidden):
    """This person has not consented yet: show `consent` of the terms, and send its `sha256` as `consent_sha256`."""


class ChatsPayNothing(Conflict):
    """The collection '{name}' pays nothing for chats: open one with `pay_per_chat` and `currency`."""


class NoConversationsLeft(Conflict):
    """You have started {started} conversations. {limit} are the most for one person, so no other chat can begin."""


class ChatLinkRevoked(Forbidden):
    """This link was revoked: ask for another."""


class NoSuchChatToken(Unauthenticated):
    """This token is not known, or is not for this chat: ask the frontend for a new one."""


class ChatTokenExpired(Unauthenticated):
    """This chat's token has expired: ask the frontend for a new one."""


class TooManyListeners(TooMany):
    """This chat's events are read {listeners} times already: close one, and try again in {retry_after_seconds} s."""


class NobodyToTalkTo(Unavailable):
    """No bots of this collection answer at the moment: try again later."""
