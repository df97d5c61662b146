"""Errors of chats and of links into chats."""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid


class ChatLinkExpired(Forbidden):
    """This link expired before you began: ask for another."""

    title = "Link expired"


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
