"""What can go wrong before a page is made."""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound, TooMany, Unauthenticated, Unavailable


class SignInNeeded(Unauthenticated):
    """Sign in to see this page."""

    title = "Sign in"


class NotForThisRole(Forbidden):
    """This page needs a key with one of the roles {allowed}: yours has the role {role}."""

    title = "Not for this key"


class EntryLinkNeeded(Unauthenticated):
    """Open the link that you were given: this browser does not know yet who you are."""

    title = "Open your link"


class ChatLinkExpired(Forbidden):
    """This link expired before you began: ask for another."""

    title = "Link expired"


class TooManyFailedLinks(TooMany):
    """Too many invalid links came from this address: try again in {retry_after_seconds} s."""

    title = "Too many links"


class TooManyStreams(TooMany):
    """Too many windows follow chats at the moment: try again in {retry_after_seconds} s."""

    title = "Too many windows"


class NotYourPackage(NotFound):
    """You have no such package: open the link that you were given once more."""

    title = "Not your package"


class NoAnnotationKey(Unavailable):
    """This installation has no key for annotators: set SPOTTHEBOT_WEB_ANNOTATION_KEY."""

    title = "Not set up"


class WhoIsMissing(Invalid):
    """This link is incomplete: it lacks '{parameter}', which says who you are. Open the link from the panel again."""

    title = "Link incomplete"


class IdNotSigned(Forbidden):
    """The panel did not sign the id in this link: open it from the panel."""

    title = "Link not signed"


class NoChatYet(Conflict):
    """You have not started a chat: open the link that you were given, and begin there."""

    title = "Not begun"


class NotSayable(Invalid):
    """{sentence}."""

    title = "Not sent"


class NotForChats(Conflict):
    """The collection '{name}' is not for chats with people: make a collection with the mode human_bot."""

    title = "Not for chats"
