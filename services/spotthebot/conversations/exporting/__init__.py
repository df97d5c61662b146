"""Conversations as files for other tools: rows in, bytes out, a batch at a time."""

from spotthebot.conversations.exporting.card import Provenance, SourceCorpus, write_card
from spotthebot.conversations.exporting.layout import DatasetFolder
from spotthebot.conversations.exporting.parquet import ParquetFile
from spotthebot.conversations.exporting.schema import arrow_schema

__all__ = ["DatasetFolder", "ParquetFile", "Provenance", "SourceCorpus", "arrow_schema", "write_card"]
