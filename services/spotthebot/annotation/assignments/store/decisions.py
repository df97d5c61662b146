"""Decisions as JSON, in drafts and in annotations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from spotthebot.annotation.protocols.domain.exchanges import Decision


def to_json(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return decisions as a column of JSON holds them."""
    return [
        {
            "question": each.question,
            "target": each.target,
            "exchanges": each.exchanges,
            "opened_at": each.opened_at.astimezone(UTC).isoformat(),
            "decided_at": each.decided_at.astimezone(UTC).isoformat(),
        }
        for each in decisions
    ]


def from_json(rows: Sequence[dict[str, Any]]) -> tuple[Decision, ...]:
    """Return the decisions that a column of JSON holds."""
    return tuple(
        Decision(
            row["question"],
            row["target"],
            row["exchanges"],
            datetime.fromisoformat(row["opened_at"]),
            datetime.fromisoformat(row["decided_at"]),
        )
        for row in rows
    )
