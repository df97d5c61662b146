"""All tables of the schema `conversations`, registered by importing this module, and their migrations."""

from pathlib import Path

from spotthebot.conversations.chats import tables as chats_tables
from spotthebot.conversations.collections import tables as collections_tables
from spotthebot.conversations.conversations import tables as conversations_tables
from spotthebot.conversations.corpora import tables as corpora_tables
from spotthebot.conversations.metadata import Base
from spotthebot.conversations.participants import tables as participants_tables
from spotthebot.conversations.quality import tables as quality_tables
from spotthebot.conversations.turn_loop import tables as turn_loop_tables
from spotthebot.kit.migrations.lineage import Lineage

LINEAGE = Lineage("conversations", Base.metadata, Path(__file__).parent / "migrations")
