"""The errors of annotators: who they are, their limits, consent and blocks.

Invalid
└── ProgramNameUnusable
NotFound
└── NoSuchAnnotator
Conflict
├── AnnotatorErased
├── OtherAnnotatorKind
├── OtherJudgeVersion
├── JudgeUnpaid
├── NothingToAppeal
├── AppealLodged
└── ClaimRefused
    ├── LimitReached
    ├── AnnotatorBlocked
    └── ConsentRequired
"""

from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.kit.errors import Conflict, Invalid, NotFound


class ProgramNameUnusable(Invalid):
    """The program '{name}' has a name in the form of a person's pseudonym (p- and 26 characters): give another one."""


class NoSuchAnnotator(NotFound):
    """There is no annotator {annotator_id} in this campaign."""


class AnnotatorErased(Conflict):
    """This annotator's person was erased, so no decision about this annotator is possible any more."""


class OtherAnnotatorKind(Conflict):
    """The annotator '{name}' has the kind `{known}` in this campaign, not `{kind}`: a kind never changes."""


class OtherJudgeVersion(Conflict):
    """The annotator '{name}' is another version of a judge in this campaign: give each version a name of its own."""


class JudgeUnpaid(Conflict):
    """This annotator is a judge, and programs are not paid."""


class NothingToAppeal(Conflict):
    """This annotator is not blocked, and has not failed the training for good: there is nothing to appeal against."""


class AppealLodged(Conflict):
    """This annotator has already appealed with another note, and only one note is kept: it can't be changed."""


class LimitReached(ClaimRefused):
    """This annotator has as many packages as one annotator may have in this campaign: {limit}."""


class AnnotatorBlocked(ClaimRefused):
    """This annotator is blocked in this campaign: lodge an appeal, or ask an administrator."""

    problem_name = "blocked"


class ConsentRequired(ClaimRefused):
    """This annotator has not consented to the campaign's text: show `consent`, and send its `consent_sha256`."""
