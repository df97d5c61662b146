"""Decisions, as annotators and analysts get them."""

from collections.abc import Sequence

from spotthebot.annotation.domain.exchanges import Decision
from spotthebot.contracts.annotation import DecisionOut


def decisions_out(decisions: Sequence[Decision]) -> tuple[DecisionOut, ...]:
    """Shape the decisions of one answer."""
    return tuple(DecisionOut(**vars(each)) for each in decisions)
