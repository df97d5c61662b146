"""The errors of entry and consent.

Conflict
├── EntryLinkUsedUp
├── NoConsentAsked
└── ConsentToAnotherText
"""

from spotthebot.kit.errors import Conflict


class EntryLinkUsedUp(Conflict):
    """This entry link is for {limit} annotators, and as many have entered: ask for another link."""


class NoConsentAsked(Conflict):
    """The campaign '{name}' has no text to consent to."""


class ConsentToAnotherText(Conflict):
    """This is the hash of another text than the campaign's: show `consent`, and send its `consent_sha256`."""
