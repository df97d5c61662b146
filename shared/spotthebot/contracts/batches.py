"""Batches: rows that one request uploads, to any service."""

from spotthebot.contracts.wire import Wire

MAX_BATCH_SIZE = 1000
"""The limit of rows in one bulk request."""


class StoredOut(Wire):
    """The result of a batch. A row whose key is already stored stays unchanged."""

    stored: int
    already_there: int
