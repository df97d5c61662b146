"""What can go wrong with participants and partner sets."""

from spotthebot.kit.errors import Invalid, NotFound


class BotRetired(Invalid):
    """The bot '{name}' is {status}: name another, or make it active again."""


class SameNames(Invalid):
    """Two of the bots are called '{name}': results could not tell them apart."""


class PlaysItself(Invalid):
    """The bot '{name}' is a target and in the partner set: it would talk to itself; leave it out of one of them."""


class UnknownPartnerSet(Invalid):
    """There is no version {version} of a partner set '{name}': create it first, or name another version."""


class NoSuchPartnerSet(NotFound):
    """There is no version {version} of a partner set '{name}'."""
