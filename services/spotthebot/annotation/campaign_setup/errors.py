"""The errors of campaign changes and of uploads to campaigns.

Invalid
├── ChangesInvalid
├── PackagesNotMadeHere
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


class PackagesNotMadeHere(Invalid):
    """A campaign of mode '{mode}' has no packages to try: name `packages` of mode 'uploaded', or choose mode 'live'."""


class UnknownReferences(Invalid):
    """{count} rows do not fit this campaign: see `errors`. No row was stored."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state} and takes no uploads: upload to an open or closed campaign."""


class CampaignNoDraft(Conflict):
    """The campaign '{name}' is {state}: upload packages to a draft, before you open it."""


class ChangeRefused(Conflict):
    """The campaign '{name}' is {state} and does not allow this change: see `errors`. Nothing was changed."""


class ChangedMeanwhile(Conflict):
    """Another change of the campaign '{name}' came first: read the campaign again, then repeat your change."""


class AnnotatorsEntered(Conflict):
    """{count} annotators have entered the draft '{name}', so it can't be deleted: close it instead."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' has mode '{mode}': annotations go to mode 'import', packages to 'import' or 'uploaded'."""
