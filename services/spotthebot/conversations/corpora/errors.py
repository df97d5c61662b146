"""What can go wrong with corpora."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCorpusInPlan(Invalid):
    """There is no corpus {corpus_id}: upload it first."""


class SplitIsEmpty(Invalid):
    """The corpus '{corpus}' has no dialogues in the split '{split}'."""


class NotUtf8(Invalid):
    """The file is UTF-16: convert it to UTF-8."""


class NotThisFormat(Invalid):
    """This is no {form}: {reason}."""


class BadShares(Invalid):
    """'{splits}' names no shares of splits that sum to 1: write `train:0.8,openings:0.2`."""


class SplitOrSplits(Invalid):
    """Both `split` and `splits` were given: name one split for all dialogues, or shares of several."""


class NoSplitNamed(Invalid):
    """Nothing was stored: {reason}. Name one by `split`, or several by `splits` (NAME:SHARE,NAME:SHARE)."""


class UploadCutShort(Invalid):
    """The file was cut short: send it again; what is stored stays, and is not stored twice."""


class NoSuchCorpus(NotFound):
    """There is no corpus {corpus_id}."""


class CorpusNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another corpus has: choose one that people tell apart from it."""


class CorpusNameTaken(Conflict):
    """There is a corpus named '{name}' already: add dialogues to it, or choose another name."""
