"""The events of `conversations`: which events teams may receive, and with which fields."""

from spotthebot.contracts.conversations.events import EventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(
    types=EventType,
    for_teams=frozenset({EventType.BOT_FAILING, EventType.BOT_RECOVERED}),
    team_fields=("bot", "reason"),
)
"""An event about a bot belongs to the bot's team, and holds `bot: {id, name}`; other data may name other bots."""
