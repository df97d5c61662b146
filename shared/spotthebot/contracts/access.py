"""The roles an API key can have."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a caller in the suite."""

    ADMIN = "admin"
    """Runs the suite: registers bots, uploads corpora, starts collections and campaigns."""
    TEAM = "team"
    """Owns bots and sees only its own."""
    ANNOTATION = "annotation"
    """A frontend that claims packages and submits labels for its workers; never learns who is a bot."""
    ANALYST = "analyst"
    """Reads conversations, annotations and results."""
    SERVICE = "service"
    """Another service of the suite."""
