"""The errors of campaigns, their packages and what is uploaded to them.

Invalid
├── UnknownCollection
├── CollectionsNotMixed
├── ConversationsNamedAlike
├── NothingToAnnotate
├── TooFewToCompare
├── NoSuchPackage
├── PackagesNotNamed
├── ChangesInvalid
└── UnknownReferences
NotFound
└── NoSuchCampaign
Forbidden
└── NamesForAdministrators
Conflict
├── CollectionNotComplete
├── CollectionCancelled
├── CampaignNotOpen
├── CampaignNoDraft
├── CampaignCannotMove
├── CampaignNotBuilt
├── ChangeRefused
├── ChangedMeanwhile
├── CampaignNotDeletable
├── AnnotatorsEntered
├── CampaignNotEnded
├── CampaignTakesNoImports
├── CampaignTakesNoClaims
└── NoPay
"""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound


class UnknownCollection(Invalid):
    """There is no collection {collection_id}."""


class CollectionsNotMixed(Invalid):
    """These collections can't be mixed so: {reason}."""


class ConversationsNamedAlike(Invalid):
    """Two conversations of these collections are called '{name}': import one of them under another `external_id`."""


class NothingToAnnotate(Invalid):
    """No conversation has {exchanges} exchanges, as the longest segment needs: {too_short} are too short."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers: {at_most} at most find others to stand beside."""


class NoSuchPackage(Invalid):
    """There is no package {package} in this campaign."""


class PackagesNotNamed(Invalid):
    """The service chooses the packages of the campaign '{name}': leave `package` out."""


class ChangesInvalid(Invalid):
    """The campaign would not be valid with these changes: see `errors`."""


class UnknownReferences(Invalid):
    """{count} rows do not fit what this campaign has: see `errors`. Nothing of the batch was stored."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NamesForAdministrators(Forbidden):
    """Only administrators may export annotations with the ids of annotators: leave `annotators` out."""


class CollectionNotComplete(Conflict):
    """The collection '{name}' is {state}: {unfinished} conversations are unfinished. Try again when it is complete."""


class CollectionCancelled(Conflict):
    """The collection '{name}' was cancelled and will never be complete: a campaign needs a complete one."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state}: nothing can be claimed or uploaded."""


class CampaignNoDraft(Conflict):
    """The campaign '{name}' is {state}: packages are uploaded to a draft, before it is opened."""


class CampaignCannotMove(Conflict):
    """The campaign '{name}' is {state} and cannot become {requested}."""


class CampaignNotBuilt(Conflict):
    """The packages of the campaign '{name}' are still being made: go on once its state is draft."""


class ChangeRefused(Conflict):
    """The campaign '{name}' is {state}, and can't change so: see `errors`. Nothing was changed."""


class ChangedMeanwhile(Conflict):
    """Another change of the campaign '{name}' came first: look at it, and send yours again."""


class CampaignNotDeletable(Conflict):
    """The campaign '{name}' is {state}: only a draft can be deleted. Close it instead."""


class AnnotatorsEntered(Conflict):
    """{count} annotators have entered the draft '{name}', so it can't be deleted: close it instead."""


class CampaignNotEnded(Conflict):
    """The campaign '{name}' is {state}: its results can be released once it is complete, or after you close it."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' has mode '{mode}': annotations go to mode 'import', packages to 'import' or 'uploaded'."""


class CampaignTakesNoClaims(Conflict):
    """The campaign '{name}' was annotated elsewhere: there is nothing to claim."""


class NoPay(Conflict):
    """The campaign '{name}' pays nothing: it was made without `pay_per_package` and `currency`."""
