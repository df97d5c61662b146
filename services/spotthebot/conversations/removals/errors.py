"""What keeps a corpus from being removed."""

from spotthebot.kit.errors import Conflict


class CorpusInCollections(Conflict):
    """The corpus '{name}' stays: collections hold texts of it or were compared with it: {collections}."""


class CorpusIsLearned(Conflict):
    """The corpus '{name}' stays while bots learn from it: retire {bots} first."""
