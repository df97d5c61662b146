"""The client of `annotation`."""

from spotthebot.clients.annotation.annotators import AnnotatorOperations
from spotthebot.clients.annotation.assignments import AssignmentOperations
from spotthebot.clients.annotation.campaigns import CampaignOperations
from spotthebot.clients.annotation.entries import EntryOperations
from spotthebot.clients.annotation.judges import JudgeOperations
from spotthebot.clients.annotation.protocols import ProtocolOperations
from spotthebot.clients.annotation.studies import StudyOperations
from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.subscriptions import SubscriptionOperations
from spotthebot.clients.trainings import TrainingOperations


class AnnotationOperations(
    CampaignOperations,
    AssignmentOperations,
    EntryOperations,
    AnnotatorOperations,
    ProtocolOperations,
    JudgeOperations,
    StudyOperations,
    SubscriptionOperations,
    TrainingOperations,
    ServiceOperations,
):
    """The operations of `annotation`."""

    peer = "annotation"


class Annotation(AnnotationOperations, Client):
    """The client of `annotation`."""


class AsyncAnnotation(AnnotationOperations, AsyncClient):
    """The client of `annotation` on an event loop."""
