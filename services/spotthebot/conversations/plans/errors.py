"""What can go wrong where a collection starts."""

from spotthebot.kit.errors import Invalid


class TooManyConversations(Invalid):
    """This makes {conversations} conversations; a collection holds at most {limit}: split it into several."""


class TooFewDialogues(Invalid):
    """'{split}' has {available} dialogues of {turns} turns or more, {request} are needed: {too_short} are too short."""


class DialoguesTooShort(Invalid):
    """No dialogue of the split '{split}' is long enough to open a conversation."""


class LearnedFromPeople(Invalid):
    """The bot '{name}' learned from the split '{split}', which people's conversations come from: name another split."""
