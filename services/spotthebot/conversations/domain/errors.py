"""What can go wrong with corpora and collections.

Invalid
├── UnknownBot
├── BotRetired
├── SameNames
├── NamesLookAlike
├── PlaysItself
├── TooManyConversations
├── UnknownCorpusInPlan
├── UnknownPartnerSet
├── SplitIsEmpty
├── TooFewDialogues
├── DialoguesTooShort
├── LearnedFromPeople
├── NotUtf8
├── NotThisFormat
├── BadShares
├── SplitOrSplits
├── NoSplitNamed
├── UploadCutShort
├── RatingsIncomplete
├── BotsDiffer
├── OpeningsDiffer
├── NamedAlike
├── HumanShareUnreachable
└── BotNotNamed
NotFound
├── NoSuchBot
├── NoBotOfName
├── NoSuchCorpus
├── NoSuchCollection
├── NoSuchPartnerSet
├── NoSuchConversation
├── NotMarked
└── NoSuchChat
Conflict
├── CorpusNameLooksAlike
├── CorpusNameTaken
├── CorpusInCollections
├── CorpusIsLearned
├── NotAnImport
├── HeldOtherwise
├── HasEnded
├── NotForChats
├── CollectionNotOpen
├── PartnerSpeaksNext
├── NotThisConversation
├── TooFewTurns
├── ChatEndedMeanwhile
├── ChatLinkUsedUp
├── ChatIsOver
├── NotTimeToRate
└── SeveralBotsOfName
Forbidden
├── PeopleForAdministrators
└── ChatLinkRevoked
Unauthenticated
├── NoSuchChatToken
└── ChatTokenExpired
TooMany
└── TooManyListeners
Unavailable
└── NobodyToTalkTo
"""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound, TooMany, Unauthenticated, Unavailable


class UnknownBot(Invalid):
    """There is no bot {bot_id}: register it first."""


class BotRetired(Invalid):
    """The bot '{name}' is {status}: name another, or make it active again."""


class SameNames(Invalid):
    """Two of the bots are called '{name}': results could not tell them apart."""


class NamesLookAlike(Invalid):
    """The bots '{name}' and '{other}' look alike in results: register one of them under another name."""


class PlaysItself(Invalid):
    """The bot '{name}' is a target and in the partner set: it would talk to itself; leave it out of one of them."""


class TooManyConversations(Invalid):
    """This makes {conversations} conversations; a collection holds at most {limit}: split it into several."""


class UnknownCorpusInPlan(Invalid):
    """There is no corpus {corpus_id}: upload it first."""


class UnknownPartnerSet(Invalid):
    """There is no version {version} of a partner set '{name}': create it first, or name another version."""


class SplitIsEmpty(Invalid):
    """The corpus '{corpus}' has no dialogues in the split '{split}'."""


class TooFewDialogues(Invalid):
    """'{split}' has {available} dialogues of {turns} turns or more, {request} are needed: {too_short} are too short."""


class DialoguesTooShort(Invalid):
    """No dialogue of the split '{split}' is long enough to open a conversation."""


class LearnedFromPeople(Invalid):
    """The bot '{name}' learned from the split '{split}', which people's conversations come from: name another split."""


class NotUtf8(Invalid):
    """The file is UTF-16: convert it to UTF-8."""


class NotThisFormat(Invalid):
    """This is no {form}: {reason}."""


class BadShares(Invalid):
    """'{splits}' names no shares of splits that sum to 1: write `train:0.8,openings:0.2`."""


class SplitOrSplits(Invalid):
    """Both `split` and `splits` were given: name one split for all dialogues, or shares of several."""


class NoSplitNamed(Invalid):
    """Nothing was stored: {reason}. Name one by `split`, or several by `splits` (NAME:SHARE,NAME:SHARE)."""


class UploadCutShort(Invalid):
    """The file was cut short: send it again; what is stored stays, and is not stored twice."""


class RatingsIncomplete(Invalid):
    """The ratings do not fit the chat: give each conversation that was not broken off a score for each question."""


class BotsDiffer(Invalid):
    """'{name}' is {first} in '{one}', {second} in '{other}': take collections of one version, or only one of these."""


class OpeningsDiffer(Invalid):
    """One collection shows openings of {one} turns, another of {other}, which could tell who speaks: leave one out."""


class NamedAlike(Invalid):
    """Two conversations of these collections are called '{name}': import one of them under another `external_id`."""


class HumanShareUnreachable(Invalid):
    """There are {available} human dialogues of {exchanges} exchanges, a share of {share} needs {needed}: lower it."""


class BotNotNamed(Invalid):
    """Name one bot: by `bot_id`, or by `bot`, which takes a name."""


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class NoBotOfName(NotFound):
    """There is no bot '{name}' that this API key may see: {suggestion}."""


class NoSuchCorpus(NotFound):
    """There is no corpus {corpus_id}."""


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class NoSuchPartnerSet(NotFound):
    """There is no version {version} of a partner set '{name}'."""


class NoSuchConversation(NotFound):
    """There is no conversation {conversation_id}."""


class NoQualityCheck(NotFound):
    """Collection {collection_id} was never checked: POST /v1/collections/{collection_id}/quality-flags."""


class NoSuchChat(NotFound):
    """There is no chat {chat_id}."""


class CorpusNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another corpus has: choose one that people tell apart from it."""


class CorpusNameTaken(Conflict):
    """There is a corpus named '{name}' already: add dialogues to it, or choose another name."""


class CorpusInCollections(Conflict):
    """The corpus '{name}' stays: collections hold texts of it or were compared with it: {collections}."""


class CorpusIsLearned(Conflict):
    """The corpus '{name}' stays while bots learn from it: retire {bots} first."""


class NotAnImport(Conflict):
    """The collection '{name}' holds its own conversations: only one with mode 'import' takes uploads."""


class HeldOtherwise(Conflict):
    """The collection '{name}' holds conversations of mode {held_as} since a moment ago: upload to another one."""


class HasEnded(Conflict):
    """The collection '{name}' is {state}: there is nothing to {verb}."""


class NotForChats(Conflict):
    """The collection '{name}' is not for chats: only one with mode 'human_bot' is."""


class CollectionNotOpen(Conflict):
    """The collection '{name}' is {state}: it takes no chats."""


class PartnerSpeaksNext(Conflict):
    """The partner speaks next: wait for the event `turn` or `failed`."""


class NotThisConversation(Conflict):
    """Conversation {number} of this chat {fact}; conversation {current} goes on: nothing was said in it."""


class TooFewTurns(Conflict):
    """{said} turns were said, {minimum} are needed before going on: keep talking."""


class ChatEndedMeanwhile(Conflict):
    """The open chat ended a moment ago: send the request again for a new one."""


class ChatIsOver(Conflict):
    """This chat is {state}: nothing more can be said in it."""


class NotTimeToRate(Conflict):
    """This chat is {state}: it is rated when all its conversations are over."""


class SeveralBotsOfName(Conflict):
    """{count} bots are called '{name}': give the `bot_id` of one of them: {owners}."""


class ChatLinkUsedUp(Conflict):
    """This link is for {limit} people, and as many have begun to chat: ask for another."""


class PeopleForAdministrators(Forbidden):
    """Only administrators may export the ids of people who chatted: leave `people` out."""


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
