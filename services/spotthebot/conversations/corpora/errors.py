"""The errors of corpora."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCorpusInPlan(Invalid):
    """There is no corpus {corpus_id}: upload it first."""


class SplitIsEmpty(Invalid):
    """The corpus '{corpus}' has no dialogues in the split '{split}': name another split."""


class NotUtf8(Invalid):
    """The file is UTF-16: convert it to UTF-8."""


class NotThisFormat(Invalid):
    """The file is not a valid {form}: {reason}."""


class BadShares(Invalid):
    """'{splits}' must name splits with shares that sum to 1, such as `train:0.8,openings:0.2`."""


class SplitOrSplits(Invalid):
    """Both `split` and `splits` were given: name one split for all dialogues, or shares of several."""


class NoSplitNamed(Invalid):
    """Nothing was stored: {reason}. Name one by `split`, or several by `splits` (NAME:SHARE,NAME:SHARE)."""


class UploadCutShort(Invalid):
    """The upload was cut short: send the file again. Stored lines are kept and not stored twice."""


class NoSuchCorpus(NotFound):
    """There is no corpus {corpus_id}."""


class CorpusNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another corpus has: choose one that people tell apart from it."""


class CorpusNameTaken(Conflict):
    """There is a corpus named '{name}' already: add dialogues to it, or choose another name."""
