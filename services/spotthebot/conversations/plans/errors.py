"""The errors of starting a collection."""

from spotthebot.kit.errors import Invalid


class TooManyConversations(Invalid):
    """This makes {conversations} conversations; a collection holds at most {limit}: split it into several."""


class TooFewDialogues(Invalid):
    """{request} dialogues of {turns} turns or more are needed: '{split}' has {available}, and {too_short} shorter."""


class DialoguesTooShort(Invalid):
    """No dialogue of the split '{split}' is long enough to open a conversation: open with fewer utterances."""


class NoPersonas(Invalid):
    """No dialogue of the split '{split}' has personas: name a split of PersonaChat's kind, or leave personas out."""


class LearnedFromPeople(Invalid):
    """The bot '{name}' learned from the split '{split}', so people's conversations must come from another split."""
