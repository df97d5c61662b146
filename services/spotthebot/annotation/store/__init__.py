"""The only SQL of `annotation`, one module for each noun."""

from spotthebot.annotation.store import annotations, assignments, campaigns, conversations, packages, protocols

__all__ = ["annotations", "assignments", "campaigns", "conversations", "packages", "protocols"]
