"""The errors of annotators: who they are, their limits, consent and blocks.

NotFound
└── NoSuchAnnotator
Conflict
├── AnnotatorErased
├── NothingToAppeal
├── AppealLodged
└── ClaimRefused
    ├── LimitReached
    ├── AnnotatorBlocked
    └── ConsentRequired
"""

from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.kit.errors import Conflict, NotFound


class NoSuchAnnotator(NotFound):
    """There is no annotator {annotator_id} in this campaign."""


class AnnotatorErased(Conflict):
    """The person behind this annotator was erased: nobody knows whom this decision would be about."""


class NothingToAppeal(Conflict):
    """This annotator is not blocked, and has not failed the training for good: there is nothing to appeal against."""


class AppealLodged(Conflict):
    """This annotator has appealed with another note; one note is kept."""


class LimitReached(ClaimRefused):
    """This annotator has {limit} packages, as many as one annotator may have in this campaign."""


class AnnotatorBlocked(ClaimRefused):
    """This annotator is blocked in this campaign."""

    problem_name = "blocked"


class ConsentRequired(ClaimRefused):
    """This annotator has not consented to the campaign's text: show `consent`, and send its `consent_sha256`."""
