"""Conversations that say what another one says, which count as one."""

from spotthebot.contracts.wire import Wire

MAX_REPEATED = 100
"""Pairs that are named, those with the most repeats first."""


class RepeatedTexts(Wire):
    """Two speakers whose conversations have fewer texts than there are conversations."""

    speakers: tuple[str, str]
    conversations: int
    texts: int

    @property
    def sentence(self) -> str:
        """What to tell readers of a result of these conversations."""
        first, second = self.speakers
        repeats = self.conversations - self.texts
        return (
            f"{repeats} of {self.conversations} conversations of {first} and {second}"
            f" {'repeats' if repeats == 1 else 'repeat'} another one's text: they count as {self.texts}."
        )
