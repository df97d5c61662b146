"""The errors of probing judges.

Conflict
└── NothingToProbe
Invalid
└── NoOwnBot
"""

from spotthebot.kit.errors import Conflict, Invalid


class NothingToProbe(Conflict):
    """The campaign '{campaign}' shows no item that asks who is human, so there is nothing to probe a judge with."""


class NoOwnBot(Invalid):
    """The campaign '{campaign}' shows no bot called '{bot}': name a bot with the judge's model as results name it."""
