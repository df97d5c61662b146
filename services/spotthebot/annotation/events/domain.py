"""The events of `annotation`: which events frontends may receive, and with which fields."""

from spotthebot.contracts.annotation.events import AnnotationEventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(
    types=AnnotationEventType,
    for_teams=frozenset({AnnotationEventType.ASSIGNMENT_SUBMITTED}),
    team_fields=("campaign", "assignment"),
)
"""An event about an assignment belongs to the frontend that claimed it. No event has a person's id at the frontend."""
