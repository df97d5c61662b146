"""The errors of quality checks."""

from spotthebot.kit.errors import NotFound


class NoQualityCheck(NotFound):
    """Collection {collection_id} was never checked: POST /v1/collections/{collection_id}/quality-flags."""
