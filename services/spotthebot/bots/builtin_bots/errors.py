"""What can go wrong where bots learn from dialogues.

Invalid
├── UnknownCorpus
└── CorpusIsNeeded
Conflict
└── TrainingDataChanged
"""

from spotthebot.kit.errors import Conflict, Invalid


class UnknownCorpus(Invalid):
    """There is no corpus {corpus_id} with dialogues in the split '{split}' to learn from."""


class CorpusIsNeeded(Invalid):
    """The built-in bot '{model}' learns from dialogues and was given none that it can learn from."""


class TrainingDataChanged(Conflict):
    """The dialogues that bot {bot_id} may learn from are others than at its registration: add a version to the bot."""
