"""What can go wrong with bots.

Invalid
├── UnknownCorpus
└── TeamKeyWithoutTeam
NotFound
└── NoSuchBot
Conflict
├── BotNameTaken
└── TrainingDataChanged
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCorpus(Invalid):
    """There is no corpus {corpus_id} with dialogues in the split '{split}' to learn from."""


class TeamKeyWithoutTeam(Invalid):
    """This API key has the role team but names no team: ask for a key made with --team."""


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class BotNameTaken(Conflict):
    """A bot named '{name}' is registered already: choose another name, bots never change."""


class TrainingDataChanged(Conflict):
    """The dialogues that bot {bot_id} learned from have changed since it was registered: register it anew."""
