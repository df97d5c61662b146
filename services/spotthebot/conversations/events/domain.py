"""The events of `conversations`: those that teams may receive, and the part of their data that teams see."""

from spotthebot.contracts.conversations.events import EventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(
    types=EventType,
    for_teams=frozenset({EventType.BOT_FAILING, EventType.BOT_RECOVERED}),
    team_fields=("bot", "reason"),
)
"""An event about a bot belongs to the bot's team, and holds `bot: {id, name}`; other data may name other bots."""
