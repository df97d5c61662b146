"""The errors of entry links, and of ids that panels send.

Invalid
├── AnnotatorIdUnusable
├── EntryLinkNotGenuine
├── EntryLinkNamesNobody
├── EntryRefused
└── PeopleNotCounted
NotFound
└── NoSuchEntryLink
Conflict
├── EntryLinkExpired
├── EntryLinkRevoked
└── NotEntered
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


class EntryLinkExpired(Conflict):
    """This entry link expired on {expired_at}."""


class EntryLinkRevoked(Conflict):
    """This entry link was revoked on {revoked_at}: ask for another link."""


class NotEntered(Conflict):
    """This person did not enter by this link, or was erased since: they have to enter by a link."""
