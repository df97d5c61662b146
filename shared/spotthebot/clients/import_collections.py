"""Collections of mode `import`: finds one by its name, and stores conversations of a file in batches."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeVar
from uuid import UUID

from spotthebot.clients.conversations.client import AsyncConversations
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState, ImportIn
from spotthebot.contracts.conversations.conversations import ConversationBatchIn, ConversationIn

_AT_ONCE: Final = 250
_Record = TypeVar("_Record")


async def add_conversations(
    conversations: AsyncConversations, collection_id: UUID, batch: Sequence[ConversationIn]
) -> StoredOut:
    """Store valid conversations; conversations with known ids stay unchanged."""
    uploaded = ConversationBatchIn.model_construct(conversations=tuple(batch))
    return await conversations.import_conversations(collection_id, uploaded)


async def in_batches(
    records: Iterable[_Record], add: Callable[[Sequence[_Record]], Awaitable[StoredOut]]
) -> AsyncIterator[StoredOut]:
    """Add records in batches, and yield the answer to each batch."""
    rest = iter(records)
    while batch := list(islice(rest, _AT_ONCE)):
        yield await add(batch)


async def find_or_create(
    conversations: AsyncConversations, name: str, domain: str, *, cancelled: bool = False
) -> CollectionOut:
    """Return the import collection of this name and domain, cancelled or not; create it if it is missing."""
    async for found in conversations.list_collections(name=name):
        is_cancelled = found.state is CollectionState.CANCELLED
        if found.mode == "import" and found.domain == domain and is_cancelled is cancelled:
            return found
    key = hashlib.sha256(f"{domain}/{name}{'/cancelled' if cancelled else ''}".encode()).hexdigest()
    # Not validated here: the service reports faults of a name.
    request = ImportIn.model_construct(mode="import", name=name, domain=domain, cancelled=cancelled)
    return await conversations.create_collection(request, idempotency_key=f"import/{key}")
