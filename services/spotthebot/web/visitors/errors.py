"""Errors of visitors who must sign in, open a link or wait."""

from spotthebot.kit.errors import Conflict, Forbidden, TooMany, Unauthenticated, Unavailable


class SignInNeeded(Unauthenticated):
    """Sign in to see this page."""

    title = "Sign in"


class ProviderFailed(Unavailable):
    """Your organisation's sign-in did not work: {reason}. Try again, or sign in with an API key."""

    title = "Sign-in failed"


class ProviderKnowsNoRole(Forbidden):
    """You signed in, but nothing in '{claim}' says what you may do here: ask the operator of this installation."""

    title = "No access"


class SignInExpired(Conflict):
    """This sign-in was not begun in this browser, or more than ten minutes ago: sign in again."""

    title = "Sign in again"


class NotForThisRole(Forbidden):
    """This page needs a key with one of the roles {allowed}: yours has the role {role}."""

    title = "Not for this key"


class EntryLinkNeeded(Unauthenticated):
    """Open the link that you were given: this browser does not know yet who you are."""

    title = "Open your link"


class TooManyFailedLinks(TooMany):
    """Too many invalid links came from this address: try again in {retry_after_seconds} s."""

    title = "Too many links"


class TooManyStreams(TooMany):
    """Too many windows follow chats at the moment: try again in {retry_after_seconds} s."""

    title = "Too many windows"


class NoAnnotationKey(Unavailable):
    """This installation has no key for annotators: set SPOTTHEBOT_WEB_ANNOTATION_KEY."""

    title = "Not set up"
