"""What can go wrong with corpora and collections.

Invalid
├── UnknownBot
├── SameNames
├── UnknownCorpusInPlan
├── SplitIsEmpty
├── TooFewDialogues
└── DialoguesTooShort
NotFound
├── NoSuchBot
├── NoSuchCorpus
├── NoSuchCollection
└── NoSuchConversation
Conflict
├── CorpusNameTaken
└── NotAnImport
Unavailable
└── BotsAway
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class UnknownBot(Invalid):
    """There is no bot {bot_id}: register it first."""


class SameNames(Invalid):
    """Two of the bots are called '{name}': results could not tell them apart."""


class UnknownCorpusInPlan(Invalid):
    """There is no corpus {corpus_id}: upload it first."""


class SplitIsEmpty(Invalid):
    """The corpus '{corpus}' has no dialogues in the split '{split}'."""


class TooFewDialogues(Invalid):
    """The split '{split}' has {available} dialogues long enough for human-human conversations, {wanted} were asked."""


class DialoguesTooShort(Invalid):
    """No dialogue of the split '{split}' is long enough to open a conversation."""


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class NoSuchCorpus(NotFound):
    """There is no corpus {corpus_id}."""


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class NoSuchConversation(NotFound):
    """There is no conversation {conversation_id}."""


class CorpusNameTaken(Conflict):
    """There is a corpus named '{name}' already: add dialogues to it, or choose another name."""


class NotAnImport(Conflict):
    """The collection '{name}' holds its own conversations: only one with mode 'import' takes uploads."""


class BotsAway(Unavailable):
    """{waiting} conversations wait for bots that do not answer at the moment: {reason}"""  # noqa: D400 - the bots' words
