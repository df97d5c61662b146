"""The errors of annotators: entry, consent and blocks.

Invalid
├── AnnotatorIdUnusable
├── EntryLinkNotGenuine
├── EntryLinkNamesNobody
├── EntryRefused
└── PeopleNotCounted
NotFound
├── NoSuchAnnotator
└── NoSuchEntryLink
Conflict
├── AnnotatorErased
├── EntryLinkExpired
├── EntryLinkRevoked
├── EntryLinkUsedUp
├── NotEntered
├── NothingToAppeal
├── AppealLodged
├── NoConsentAsked
└── ConsentToAnotherText
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class AnnotatorIdUnusable(Invalid):
    """No annotator of the panel '{panel}' has an id of this form: see `errors`."""


class EntryLinkNotGenuine(Invalid):
    """The signature of this entry link does not fit: ask for another link."""


class EntryLinkNamesNobody(Invalid):
    """The campaign '{name}' has no panel that names people in the URL: say for which annotator the link is."""


class EntryRefused(Invalid):
    """The query parameters do not name an annotator: see `errors`."""


class PeopleNotCounted(Invalid):
    """The campaign '{name}' has no packages yet, so nobody knows how many people it needs: give max_annotators."""


class NoSuchEntryLink(NotFound):
    """There is no entry link {link_id} into this campaign."""


class NoSuchAnnotator(NotFound):
    """There is no annotator {annotator_id} in this campaign."""


class AnnotatorErased(Conflict):
    """The person behind this annotator was erased: nobody knows whom this decision would be about."""


class EntryLinkExpired(Conflict):
    """This entry link expired on {expired_at}."""


class EntryLinkUsedUp(Conflict):
    """This entry link is for {limit} annotators, and as many have entered: ask for another link."""


class EntryLinkRevoked(Conflict):
    """This entry link was revoked on {revoked_at}: ask for another link."""


class NotEntered(Conflict):
    """This person did not enter by this link, or was erased since: they have to enter by a link."""


class NothingToAppeal(Conflict):
    """This annotator is not blocked, and has not failed the training for good: there is nothing to appeal against."""


class AppealLodged(Conflict):
    """This annotator has appealed with another note; one note is kept."""


class NoConsentAsked(Conflict):
    """The campaign '{name}' has no text to consent to."""


class ConsentToAnotherText(Conflict):
    """This is the hash of another text than the campaign's: show `consent`, and send its `consent_sha256`."""
