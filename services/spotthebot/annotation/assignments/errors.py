"""The errors of assignments: claims, answers and gold items.

Invalid
├── TooFewGoldDialogues
├── GoldTooShort
├── GoldInTraining
├── GoldStandsOut
├── NoSuchPackage
└── NoSuchItem
NotFound
└── NoSuchAssignment
Conflict
├── StepNotShown
├── StepLocked
├── StepUnanswered
├── VersionOutdated
├── ItemsUnanswered
└── ClaimRefused
    ├── AnotherPackageHeld
    ├── ConversationSeen
    ├── PackageTaken
    └── NothingLeft
"""

from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.kit.errors import Conflict, Invalid, NotFound


class TooFewGoldDialogues(Invalid):
    """'{name}' has {found} gold dialogues: {missing} are missing for {packages} packages with {per_package} each."""


class GoldTooShort(Invalid):
    """Dialogue {number} of '{name}' has {turns} turns, and the longest segment shows {needed}: gold is shown as far."""


class GoldInTraining(Invalid):
    """Dialogue {number} of '{name}' is in the training '{training}' as well: annotators would know its answer."""


class GoldStandsOut(Invalid):
    """Dialogue {number} of '{name}' can be told from the conversations without reading: {why}."""


class NoSuchPackage(Invalid):
    """There is no package {package} in this campaign."""


class NoSuchItem(Invalid):
    """This assignment has items 0 to {last}, and no item {position}."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class StepNotShown(Conflict):
    """Step {step} is not shown yet: answer the steps before, and show one after the other with `show_step`."""


class StepLocked(Conflict):
    """Step {step} is locked, since the next one was shown: its answers can't change."""


class StepUnanswered(Conflict):
    """Step {step} is not fully answered, so the next one is not shown: see `errors`. Nothing was saved."""


class VersionOutdated(Conflict):
    """Another save came first: this answer is in version {present}, not {version}. Get it, then save with that."""


class ItemsUnanswered(Conflict):
    """{count} items are not fully answered: see `errors`."""


class AnotherPackageHeld(ClaimRefused):
    """This annotator holds another package: submit it first."""


class ConversationSeen(ClaimRefused):
    """This annotator has seen a conversation that the package {package} shows."""


class PackageTaken(ClaimRefused):
    """The package {package} has as many annotators as it needs."""


class NothingLeft(ClaimRefused):
    """No package is left that needs annotators and shows nothing that this annotator has seen."""
