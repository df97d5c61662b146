"""The errors of bots that learn from dialogues.

Invalid
├── UnknownCorpus
└── CorpusIsNeeded
Conflict
└── TrainingDataChanged
"""

from spotthebot.kit.errors import Conflict, Invalid


class UnknownCorpus(Invalid):
    """The corpus {corpus_id} does not exist, or has no dialogues in the split '{split}': name another."""


class CorpusIsNeeded(Invalid):
    """The built-in bot '{model}' learns from dialogues, and its corpus has none for it: name another corpus."""


class TrainingDataChanged(Conflict):
    """The dialogues that bot {bot_id} learns from have changed since its registration: add a version to the bot."""
