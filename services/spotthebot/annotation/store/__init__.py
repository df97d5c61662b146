"""The only SQL of `annotation`, one module for each noun."""

from spotthebot.annotation.store import annotations, assignments, campaigns, conversations, packages

__all__ = ["annotations", "assignments", "campaigns", "conversations", "packages"]
