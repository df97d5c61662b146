"""Errors of the pages of partner sets."""

from spotthebot.kit.errors import Invalid


class NotAPartnerSetFile(Invalid):
    """The file is not a partner set: {reason}"""  # noqa: D400 - ends as the reason does

    title = "Not a partner set"


class CorpusNeeded(Invalid):
    """A partner of this file learns from a corpus, and none is chosen: upload its corpus, then import again."""

    title = "A corpus is needed"
