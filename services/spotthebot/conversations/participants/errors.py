"""The errors of participants and partner sets."""

from spotthebot.kit.errors import Invalid, NotFound


class BotRetired(Invalid):
    """The bot '{name}' is {status}: name another, or make it active again."""


class NoSuchVersion(Invalid):
    """The bot '{name}' has no version {version}: it has {known}."""


class NotATarget(Invalid):
    """A version is named for {bot_id}, which is not a target: name versions of bots in `bots` alone."""


class SameNames(Invalid):
    """Two of the bots are called '{name}', so results could not tell them apart: rename one."""


class PlaysItself(Invalid):
    """The bot '{name}' is a target and in the partner set, so it would talk to itself: leave it out of one of them."""


class UnknownPartnerSet(Invalid):
    """The partner set '{name}' has no version {version}: create it first, or name another version."""


class NoSuchPartnerSet(NotFound):
    """The partner set '{name}' has no version {version}."""
