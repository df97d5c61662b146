"""The errors of asking a bot for replies.

Invalid
├── MessagesNotAlternating
├── MessagesNotUsable
└── TemperatureNotTaken
NotFound
└── BotNotNamed
Conflict
└── BotNotAsked
Unavailable
└── ChatFailed
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class MessagesNotAlternating(Invalid):
    """The last message is the assistant's: end with the user's, so that the bot has something to answer."""


class MessagesNotUsable(Invalid):
    """The messages can't be shown to a bot: {reason}."""


class TemperatureNotTaken(Invalid):
    """The bot '{name}' ({kind}) has no temperature: leave `temperature` out, or send 1."""


class BotNotNamed(NotFound):
    """Of the bots that this API key may use, {how_many} called '{name}': name the bot by its id."""


class BotNotAsked(Conflict):
    """The bot '{name}' is {status} and gives no replies: choose another bot, or ask its owner to set it active."""


class ChatFailed(Unavailable):
    """The bot gave no reply ({failure}): {detail}"""  # noqa: D400 - ends as the detail does
