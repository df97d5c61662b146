"""The errors of requests that name a bot."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class BotNotNamed(Invalid):
    """Name one bot: by `bot_id`, or by `bot`, which takes a name."""


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class NoBotOfName(NotFound):
    """There is no bot '{name}' that this API key may see: {suggestion}."""


class SeveralBotsOfName(Conflict):
    """{count} bots are called '{name}': give the `bot_id` of one of them: {owners}."""
