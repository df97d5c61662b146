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
    """The id is not valid for the panel '{panel}': see `errors`."""


class EntryLinkNotGenuine(Invalid):
    """The signature of this entry link is not valid: copy the link again, or ask for another link."""


class EntryLinkNamesNobody(Invalid):
    """The campaign '{name}' has no panel that names people in the URL: give the `annotator` that the link is for."""


class EntryRefused(Invalid):
    """The link's query parameters do not say who the annotator is: open the link from the panel."""


class PeopleNotCounted(Invalid):
    """The campaign '{name}' has no packages yet to count annotators by: give `max_annotators`."""


class NoSuchEntryLink(NotFound):
    """There is no entry link {link_id} into this campaign."""


class EntryLinkExpired(Conflict):
    """This entry link expired on {expired_at}: ask for another link."""


class EntryLinkRevoked(Conflict):
    """This entry link was revoked on {revoked_at}: ask for another link."""


class NotEntered(Conflict):
    """This person has not entered by this link, or was erased since: open an entry link first."""
