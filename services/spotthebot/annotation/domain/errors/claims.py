"""The errors of claims that are refused: the reason is the problem's type.

Conflict
└── ClaimRefused
    ├── CampaignClosed
    ├── LimitReached
    ├── AnnotatorBlocked
    ├── ConsentRequired
    ├── TrainingNotPassed
    ├── TrainingFailed
    ├── AnotherPackageHeld
    ├── ConversationSeen
    ├── PackageTaken
    └── NothingLeft
"""

from spotthebot.kit.errors import Conflict


class ClaimRefused(Conflict):
    """This annotator can't claim a package."""


class CampaignClosed(ClaimRefused):
    """The campaign '{name}' is {state}: no package can be claimed."""

    problem_name = "closed"


class LimitReached(ClaimRefused):
    """This annotator has {limit} packages, as many as one annotator may have in this campaign."""


class AnnotatorBlocked(ClaimRefused):
    """This annotator is blocked in this campaign."""

    problem_name = "blocked"


class ConsentRequired(ClaimRefused):
    """This annotator has not consented to the campaign's text: show `consent`, and send its `consent_sha256`."""


class TrainingNotPassed(ClaimRefused):
    """This annotator has to pass the campaign's training first."""

    problem_name = "training-required"


class TrainingFailed(ClaimRefused):
    """This annotator failed the campaign's training, and has no attempt left."""


class AnotherPackageHeld(ClaimRefused):
    """This annotator holds another package: submit it first."""


class ConversationSeen(ClaimRefused):
    """This annotator has seen a conversation that the package {package} shows."""


class PackageTaken(ClaimRefused):
    """The package {package} has as many annotators as it needs."""


class NothingLeft(ClaimRefused):
    """No package is left that needs annotators and shows nothing that this annotator has seen."""
