"""The errors of entry and consent.

Conflict
├── EntryLinkUsedUp
├── NoConsentAsked
└── ConsentToAnotherText
"""

from spotthebot.kit.errors import Conflict


class EntryLinkUsedUp(Conflict):
    """All {limit} places of this entry link are taken: ask for another link."""


class NoConsentAsked(Conflict):
    """The campaign '{name}' has no text to consent to: there is nothing to give or to withdraw."""


class ConsentToAnotherText(Conflict):
    """This hash does not match the campaign's text: show `consent`, and send its `consent_sha256`."""
