"""Imports tables that other tools wrote.

Everything is keyed by what stands in the table: a second import finds all of it there, an interrupted one goes on.
"""

from collections.abc import Iterator, Sequence

from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations import CollectionOut, ConversationBatchIn, ConversationIn
from spotthebot.suite.collections.exports import find_or_create
from spotthebot.suite.progress import Steps
from spotthebot.suite.published_dump import Rejected
from spotthebot.suite.runtime.session import Clients
from spotthebot.suite.studies.dump_import import Imported, upload


async def import_conversations(
    clients: Clients, conversations: Iterator[ConversationIn | Rejected], name: str, domain: str, steps: Steps
) -> tuple[CollectionOut, Imported]:
    """Upload conversations to the import collection of this name; those whose ids it has stay as they are."""
    collection = await find_or_create(clients.conversations, name, domain)
    imported = Imported(campaign="")

    async def add(batch: Sequence[ConversationIn]) -> StoredOut:
        uploaded = ConversationBatchIn.model_construct(conversations=tuple(batch))
        return await clients.conversations.import_conversations(collection.id, uploaded)

    await upload("conversations", conversations, add, imported, steps)
    return await clients.conversations.get_collection(collection.id), imported
