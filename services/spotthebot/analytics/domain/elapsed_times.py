"""The time that an annotator takes for an annotation."""

from typing import Final

from spotthebot.analytics.domain.labelled_campaign import SIMULATED
from spotthebot.contracts.annotation.annotations import AnnotationOut

IMPORT: Final = "import"
"""The mode of campaigns whose annotations come from a file."""


def elapsed_ms_of(annotation: AnnotationOut, *, is_import: bool) -> int | None:
    """Return the time by the server's clock.

    For a simulated annotator, the simulated time that the annotator reports.
    """
    # An import without a start time has no duration either, whatever its exporter wrote there.
    if is_import and annotation.started_at is None:
        return None
    return annotation.reported_ms if annotation.annotator.startswith(SIMULATED) else annotation.elapsed_ms
