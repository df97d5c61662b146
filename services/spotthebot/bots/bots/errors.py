"""The errors of bots.

NotFound
├── NoSuchBot
└── NoSuchVersion
Conflict
├── BotNameTaken
└── BotNameLooksAlike
TooMany
└── TooManyProbes
Unavailable
└── SecretUnreadable
"""

from spotthebot.kit.errors import Conflict, NotFound, TooMany, Unavailable


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class NoSuchVersion(NotFound):
    """The bot {bot_id} has no version {version}."""


class BotNameTaken(Conflict):
    """A bot named '{name}' is registered, or retired: choose another name, or add a version to it (--next-version)."""


class BotNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another bot has: choose one that people tell apart from it."""


class TooManyProbes(TooMany):
    """This team has {running} probes running already: try again in {retry_after_seconds} s."""


class SecretUnreadable(Unavailable):
    """The secret of bot {bot_id} can't be decrypted: the encryption key has changed. Set the secret again."""
