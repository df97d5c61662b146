"""The errors of campaigns, assignments and protocols.

Invalid
├── UnknownCollection
├── UnknownProtocol
├── PairsUploaded
├── NothingToAnnotate
├── TooFewToCompare
├── NoSuchItem
├── NoSuchPackage
├── PackagesNotNamed
├── InvalidAnswer
├── UnknownReferences
├── ProtocolFaulty
├── TaskNotConvertible
├── UnknownTraining
├── TrainingOfOtherProtocol
├── NoSuchTrainingDialogue
├── TooFewGoldDialogues
├── GoldShownWhole
├── GoldTooShort
├── GoldInTraining
├── GoldStandsOut
├── TrainingFaulty
├── TrainingNotConvertible
├── AnnotatorIdUnusable
├── EntryLinkNotGenuine
├── EntryLinkNamesNobody
└── EntryRefused
NotFound
├── NoSuchCampaign
├── NoSuchAssignment
├── NoSuchAnnotator
├── NoSuchProtocol
└── NoSuchTraining
Forbidden
└── NamesForAdministrators
Conflict
├── CollectionNotComplete
├── CollectionCancelled
├── CampaignNotOpen
├── CampaignNoDraft
├── CampaignCannotMove
├── CampaignTakesNoImports
├── CampaignTakesNoClaims
├── ClaimRefused
│   ├── CampaignClosed
│   ├── LimitReached
│   ├── AnnotatorBlocked
│   ├── ConsentRequired
│   ├── TrainingNotPassed
│   ├── TrainingFailed
│   ├── AnotherPackageHeld
│   ├── ConversationSeen
│   ├── PackageTaken
│   └── NothingLeft
├── EntryLinkExpired
├── EntryLinkUsedUp
├── NoPay
├── NotBlocked
├── AppealLodged
├── NoConsentAsked
├── ConsentToAnotherText
├── NoTraining
├── TrainingNotStarted
├── TrainingDialogueNotShown
├── TrainingAnswerFinal
├── ShownWhole
├── NoExchangeOpen
├── ExchangeNotNext
├── AllExchangesOpen
├── EverythingDecided
├── DecisionLocked
├── StepNotShown
├── StepLocked
├── StepUnanswered
├── VersionOutdated
├── ItemsUnanswered
├── AssignmentExpired
├── AssignmentSubmitted
├── ProtocolBuiltIn
├── ProtocolVersionStored
└── TrainingVersionStored
"""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound


class UnknownCollection(Invalid):
    """There is no collection {collection_id}."""


class PairsUploaded(Invalid):
    """The protocol '{name}' compares dialogues in pairs, and pairs are made here, not uploaded: set mode to live."""


class NothingToAnnotate(Invalid):
    """No conversation has {exchanges} exchanges, as the longest segment needs: {too_short} are too short."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers: {at_most} at most find others to stand beside."""


class UnknownProtocol(Invalid):
    """There is no protocol '{name}'{version}: GET /v1/protocols lists them."""


class NoSuchItem(Invalid):
    """This assignment has items 0 to {last}, and no item {position}."""


class NoSuchPackage(Invalid):
    """There is no package {package} in this campaign."""


class PackagesNotNamed(Invalid):
    """The service chooses the packages of the campaign '{name}': leave `package` out."""


class InvalidAnswer(Invalid):
    """The answer does not fit the protocol: see `errors`. Nothing was saved."""


class UnknownReferences(Invalid):
    """{count} rows do not fit what this campaign has: see `errors`. Nothing of the batch was stored."""


class ProtocolFaulty(Invalid):
    """Nobody can annotate by this protocol: see `errors`."""


class TaskNotConvertible(Invalid):
    """The task of ABC-Eval can't be converted: {reason}."""


class UnknownTraining(Invalid):
    """There is no training '{name}'{version}: GET /v1/trainings lists them."""


class TrainingOfOtherProtocol(Invalid):
    """The training '{name}' is for the protocol '{protocol}' in version {version}, which this campaign does not use."""


class NoSuchTrainingDialogue(Invalid):
    """The training has dialogues 0 to {last}, and no dialogue {position}."""


class TooFewGoldDialogues(Invalid):
    """'{name}' has {found} gold dialogues: {missing} are missing for {packages} packages with {per_package} each."""


class GoldShownWhole(Invalid):
    """The protocol '{name}' opens one exchange after another, and gold items are shown whole."""


class GoldTooShort(Invalid):
    """Dialogue {number} of '{name}' has {turns} turns, and the longest segment shows {needed}: gold is shown as far."""


class GoldInTraining(Invalid):
    """Dialogue {number} of '{name}' is in the training '{training}' as well: annotators would know its answer."""


class GoldStandsOut(Invalid):
    """Dialogue {number} of '{name}' can be told from the conversations without reading: {why}."""


class TrainingFaulty(Invalid):
    """Nobody can be trained by this document: see `errors`."""


class TrainingNotConvertible(Invalid):
    """The training of ABC-Eval can't be converted: {reason}."""


class AnnotatorIdUnusable(Invalid):
    """No annotator of the panel '{panel}' has an id of this form: see `errors`."""


class EntryLinkNotGenuine(Invalid):
    """The signature of this entry link does not fit: ask for another link."""


class EntryLinkNamesNobody(Invalid):
    """The campaign '{name}' has no panel that names people in the URL: say for which annotator the link is."""


class EntryRefused(Invalid):
    """The query parameters do not name an annotator: see `errors`."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class NoSuchAnnotator(NotFound):
    """There is no annotator {annotator_id} in this campaign."""


class NoSuchProtocol(NotFound):
    """There is no protocol '{name}' in version {version}."""


class NoSuchTraining(NotFound):
    """There is no training '{name}' in version {version}."""


class NamesForAdministrators(Forbidden):
    """Only administrators may export annotations with the ids of annotators: leave `annotators` out."""


class CollectionNotComplete(Conflict):
    """The collection is {state}: {unfinished} conversations are not finished. Try again when it is complete."""


class CollectionCancelled(Conflict):
    """The collection '{name}' was cancelled and will never be complete: a campaign needs a complete one."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state}: nothing can be claimed or uploaded."""


class CampaignNoDraft(Conflict):
    """The campaign '{name}' is {state}: packages are uploaded to a draft, before it is opened."""


class CampaignCannotMove(Conflict):
    """The campaign '{name}' is {state} and cannot become {requested}."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' has mode '{mode}': annotations go to mode 'import', packages to 'import' or 'uploaded'."""


class CampaignTakesNoClaims(Conflict):
    """The campaign '{name}' was annotated elsewhere: there is nothing to claim."""


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


class EntryLinkExpired(Conflict):
    """This entry link expired on {expired_at}."""


class EntryLinkUsedUp(Conflict):
    """This entry link is for {limit} annotators, and as many have entered."""


class NoPay(Conflict):
    """The campaign '{name}' pays nothing: it was made without `pay_per_package` and `currency`."""


class NotBlocked(Conflict):
    """This annotator is not blocked: there is nothing to appeal against."""


class AppealLodged(Conflict):
    """This annotator has appealed against this block with another note; one note is kept."""


class NoConsentAsked(Conflict):
    """The campaign '{name}' has no text to consent to."""


class ConsentToAnotherText(Conflict):
    """This is the hash of another text than the campaign's: show `consent`, and send its `consent_sha256`."""


class NoTraining(Conflict):
    """The campaign '{name}' has no training."""


class TrainingNotStarted(Conflict):
    """This annotator has not started attempt {attempt} of the training."""


class TrainingDialogueNotShown(Conflict):
    """Dialogue {position} of the training is not shown yet: dialogue {following} comes first."""


class TrainingAnswerFinal(Conflict):
    """Dialogue {position} of the training was answered otherwise: the answer is final, as its feedback was given."""


class ShownWhole(Conflict):
    """The protocol '{protocol}' shows every item whole: there is nothing to open."""


class NoExchangeOpen(Conflict):
    """No exchange of this item is open: open the first one, then answer."""


class ExchangeNotNext(Conflict):
    """Exchange {exchange} can't be opened yet: open exchange {next} first."""


class AllExchangesOpen(Conflict):
    """All {exchanges} exchanges of this item are open: decide by what they show."""


class EverythingDecided(Conflict):
    """Every question has its answer, so no other exchange is opened: go on, or take one back that isn't locked."""


class DecisionLocked(Conflict):
    """The answer to '{question}'{side} was given with {exchanges} exchanges open, and is locked since."""


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


class AssignmentExpired(Conflict):
    """This assignment expired on {expired_at}: claim a package again; what was saved is kept."""


class AssignmentSubmitted(Conflict):
    """This assignment is submitted: its answers can't be changed."""


class ProtocolBuiltIn(Conflict):
    """The protocol '{name}' is built in: choose another name for yours."""


class ProtocolVersionStored(Conflict):
    """Version {version} of the protocol '{name}' holds another document, and never changes: make this the next one."""


class TrainingVersionStored(Conflict):
    """Version {version} of the training '{name}' holds another document, and never changes: make this the next one."""
