"""The events of `annotation`: those that frontends may receive, and the part of their data that they see."""

from spotthebot.contracts.annotation.events import AnnotationEventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(
    types=AnnotationEventType,
    for_teams=frozenset({AnnotationEventType.ASSIGNMENT_SUBMITTED}),
    team_fields=("campaign", "assignment"),
)
"""An event about an assignment belongs to the frontend that claimed it. No event has a person's own id."""
