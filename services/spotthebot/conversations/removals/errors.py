"""The errors of removing a corpus."""

from spotthebot.kit.errors import Conflict


class CorpusInCollections(Conflict):
    """The corpus '{name}' can't be deleted: collections use its texts or were compared with it: {collections}."""


class CorpusIsLearned(Conflict):
    """The corpus '{name}' can't be deleted while bots learn from it: retire {bots} first."""
