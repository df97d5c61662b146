"""The tables of the schema `annotation`, by noun."""

from pathlib import Path

from spotthebot.annotation.tables.annotators import (
    AnnotatorRow,
    BonusRow,
    EntryLinkRow,
    EntryRow,
    SeenConversationRow,
    TrainingAnswerRow,
    TrainingAttemptRow,
)
from spotthebot.annotation.tables.assignments import (
    AnnotationRow,
    AnswerRevisionRow,
    AnswerRow,
    AssignmentRow,
    GoldItemRow,
)
from spotthebot.annotation.tables.campaigns import (
    AuditRow,
    CampaignRow,
    ItemRow,
    PackageRow,
    ProtocolRow,
    ShownConversationRow,
    TrainingRow,
)
from spotthebot.annotation.tables.metadata import Base
from spotthebot.kit.events.tables import event_tables
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.web.database.tables import idempotency_table

EVENT_TABLES = event_tables(Base.metadata, team_length=200)  # as long as a frontend of an annotator
IDEMPOTENCY = idempotency_table(Base.metadata)
LINEAGE = Lineage("annotation", Base.metadata, Path(__file__).parents[1] / "migrations")

__all__ = [
    "EVENT_TABLES",
    "IDEMPOTENCY",
    "LINEAGE",
    "AnnotationRow",
    "AnnotatorRow",
    "AnswerRevisionRow",
    "AnswerRow",
    "AssignmentRow",
    "AuditRow",
    "BonusRow",
    "CampaignRow",
    "EntryLinkRow",
    "EntryRow",
    "GoldItemRow",
    "ItemRow",
    "PackageRow",
    "ProtocolRow",
    "SeenConversationRow",
    "ShownConversationRow",
    "TrainingAnswerRow",
    "TrainingAttemptRow",
    "TrainingRow",
]
