"""A bot with generic answers, like the answers of simple sequence-to-sequence models."""

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.questions.domain.dialogue import Context

ANSWERS = ("I don't know.", "I'm not sure.", "Okay.", "I see.", "That's nice.", "Yes, I think so.", "Me too.")
WEIGHTS = (6, 4, 2, 2, 1, 1, 1)


class DullBot:
    """Replies with one of a few answers that fit every context, most often with the first of them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def reply(self, context: Context) -> str:
        return chance_in(self._seed, context).choices(ANSWERS, WEIGHTS)[0]
