"""The client of `conversations`."""

from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.conversations.chats import ChatOperations
from spotthebot.clients.conversations.collections import CollectionOperations
from spotthebot.clients.conversations.corpora import CorpusOperations
from spotthebot.clients.conversations.quality import QualityOperations
from spotthebot.clients.conversations.transcripts import TranscriptOperations
from spotthebot.clients.subscriptions import SubscriptionOperations


class ConversationsOperations(
    CollectionOperations,
    TranscriptOperations,
    QualityOperations,
    CorpusOperations,
    ChatOperations,
    SubscriptionOperations,
    ServiceOperations,
):
    """The operations of `conversations`."""

    peer = "conversations"


class Conversations(ConversationsOperations, Client):
    """The client of `conversations`."""


class AsyncConversations(ConversationsOperations, AsyncClient):
    """The client of `conversations` on an event loop."""
