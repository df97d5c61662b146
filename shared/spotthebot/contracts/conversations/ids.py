"""Ids and limits that all of these share."""

from typing import Literal, NewType
from uuid import UUID

from spotthebot.contracts.wire import Wire

CorpusId = NewType("CorpusId", UUID)
CollectionId = NewType("CollectionId", UUID)
ConversationId = NewType("ConversationId", UUID)

Mode = Literal["self_play", "all_play_all", "bipartite", "human_bot", "import"]
"""How conversations of a collection are held."""

HUMAN_NAME = "HU"
"""What results call people, as the paper does."""

MAX_BATCH_SIZE = 1000
"""Rows that one bulk request may hold."""


class StoredOut(Wire):
    """What became of a batch: rows with a known key are left as they are."""

    stored: int
    already_there: int
