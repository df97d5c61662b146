"""The only SQL of `annotation`, one module for each noun."""

from spotthebot.annotation.store import (
    annotations,
    annotators,
    answers,
    assignments,
    audit_log,
    campaigns,
    claims,
    conversations,
    entry_links,
    erasure,
    packages,
    payments,
    previews,
    protocols,
    training_attempts,
    trainings,
)

__all__ = [
    "annotations",
    "annotators",
    "answers",
    "assignments",
    "audit_log",
    "campaigns",
    "claims",
    "conversations",
    "entry_links",
    "erasure",
    "packages",
    "payments",
    "previews",
    "protocols",
    "training_attempts",
    "trainings",
]
