"""Ids and names that the schemas of `conversations` share."""

from typing import Literal, NewType
from uuid import UUID

CorpusId = NewType("CorpusId", UUID)
CollectionId = NewType("CollectionId", UUID)
ConversationId = NewType("ConversationId", UUID)

Mode = Literal["self_play", "all_play_all", "bipartite", "human_bot", "import"]
"""How the conversations of a collection are held."""
