"""The clone of the repository that a command works on."""

from pathlib import Path

from spotthebot.kit.errors import Unavailable

ROOT = Path(__file__).parents[4]


class NotAClone(Unavailable):
    """This command needs the sources: run it in a clone of the repository, not from an installed package."""
