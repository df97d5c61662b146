"""The errors of registering or changing a bot.

Invalid
├── TeamKeyWithoutTeam
├── SecretNotUsed
└── StatusNotForOwners
Forbidden
└── HostingIsForAdministrators
Conflict
├── BotRetired
├── BotTookPart
└── BotIsProbed
"""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid


class TeamKeyWithoutTeam(Invalid):
    """This API key has the role team but names no team: ask for a key made with --team."""


class SecretNotUsed(Invalid):
    """The protocol {kind} uses no secret: leave it out."""


class StatusNotForOwners(Invalid):
    """A bot can be set active, suspended or retired; the suite itself sets '{status}'."""


class HostingIsForAdministrators(Forbidden):
    """Only administrators may register bots of the protocol {kind}, whose models run on this server: ask one."""


class BotRetired(Conflict):
    """The bot '{name}' is retired and can't become active again: register a new one."""


class BotTookPart(Conflict):
    """The bot '{name}' can't be deleted: it takes part in a collection or belongs to a partner set. Retire it."""


class BotIsProbed(Conflict):
    """The bot '{name}' is being probed: delete it in a minute."""
