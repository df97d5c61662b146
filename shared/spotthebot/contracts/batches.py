"""Batches: rows that one request uploads, to any service."""

from spotthebot.contracts.wire import Wire

MAX_BATCH_SIZE = 1000
"""Rows that one bulk request may hold."""


class StoredOut(Wire):
    """What became of a batch: rows with a known key are left as they are."""

    stored: int
    already_there: int
