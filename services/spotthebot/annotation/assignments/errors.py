"""The errors of assignments: claims, answers and gold items.

Invalid
├── TooFewGoldDialogues
├── GoldTooShort
├── GoldInTraining
├── GoldStandsOut
├── LabelsFaulty
├── PackagesNotNamedByJudges
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
    ├── NoPackageHeld
    ├── ConversationSeen
    ├── PackageTaken
    └── NothingLeft
"""

from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.kit.errors import Conflict, Invalid, NotFound


class TooFewGoldDialogues(Invalid):
    """'{name}' has {found} gold dialogues, {missing} too few for {packages} packages with {per_package} each."""


class GoldTooShort(Invalid):
    """Gold dialogue {number} of '{name}' has {turns} turns: it needs {needed}, as many as the longest segment."""


class GoldInTraining(Invalid):
    """Annotators know gold dialogue {number} of '{name}' from the training '{training}': replace it in one of them."""


class GoldStandsOut(Invalid):
    """Annotators could spot gold dialogue {number} of '{name}' without reading: {why}. Replace it."""


class LabelsFaulty(Invalid):
    """The labels do not fit the package's items: see `errors`. Nothing was saved."""


class PackagesNotNamedByJudges(Invalid):
    """A judge labels all packages in their order: leave `package` out."""


class NoSuchPackage(Invalid):
    """There is no package {package} in this campaign."""


class NoSuchItem(Invalid):
    """There is no item {position}: this assignment has items 0 to {last}."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class StepNotShown(Conflict):
    """Step {step} is not shown yet: {remedy}."""


class StepLocked(Conflict):
    """Step {step} is locked, because the next step was shown: send its answers as they are saved ({saved})."""


class StepUnanswered(Conflict):
    """Step {step} is not fully answered, so the next one is not shown: see `errors`. Nothing was saved."""


class VersionOutdated(Conflict):
    """The answer changed since you read it (version {present}, not {version}): get it, then save with its version."""


class ItemsUnanswered(Conflict):
    """{count} items lack answers: answer those in `errors`, then submit again."""


class AnotherPackageHeld(ClaimRefused):
    """This annotator holds another package: submit it first."""


class NoPackageHeld(ClaimRefused):
    """This annotator holds no package, and the claim says to lease no new one: claim with `new: true`."""


class ConversationSeen(ClaimRefused):
    """This annotator has seen a conversation of the package {package}: claim another package."""


class PackageTaken(ClaimRefused):
    """The package {package} has all the annotators that it needs: claim another package."""


class NothingLeft(ClaimRefused):
    """No package is left for this annotator: all are taken, or show conversations that this annotator has seen."""
