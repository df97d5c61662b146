"""The errors of campaigns that are changed, and of what is uploaded to them.

Invalid
├── ChangesInvalid
└── UnknownReferences
Conflict
├── CampaignNotOpen
├── CampaignNoDraft
├── ChangeRefused
├── ChangedMeanwhile
├── AnnotatorsEntered
└── CampaignTakesNoImports
"""

from spotthebot.kit.errors import Conflict, Invalid


class ChangesInvalid(Invalid):
    """The campaign would not be valid with these changes: see `errors`."""


class UnknownReferences(Invalid):
    """{count} rows do not fit what this campaign has: see `errors`. Nothing of the batch was stored."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state}: nothing can be claimed or uploaded."""


class CampaignNoDraft(Conflict):
    """The campaign '{name}' is {state}: packages are uploaded to a draft, before it is opened."""


class ChangeRefused(Conflict):
    """The campaign '{name}' is {state}, and can't change so: see `errors`. Nothing was changed."""


class ChangedMeanwhile(Conflict):
    """Another change of the campaign '{name}' came first: look at it, and send yours again."""


class AnnotatorsEntered(Conflict):
    """{count} annotators have entered the draft '{name}', so it can't be deleted: close it instead."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' has mode '{mode}': annotations go to mode 'import', packages to 'import' or 'uploaded'."""
