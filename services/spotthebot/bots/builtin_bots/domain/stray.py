"""A bot that ignores its partner: a random utterance of the corpus, fluent but off topic."""

from collections.abc import Sequence

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.builtin_bots.domain.contract import BuiltinModel
from spotthebot.bots.builtin_bots.domain.words import said_key, utterances
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.questions.domain.dialogue import Context, Dialogue


class StrayBot:
    """Replies with a random utterance of the corpus that is not yet in the conversation."""

    def __init__(self, seed: int, dialogues: Sequence[Dialogue]) -> None:
        self._utterances = utterances(dialogues)
        if not self._utterances:
            raise CorpusIsNeeded(model=BuiltinModel.STRAY)
        self._seed = seed
        self._keys = [said_key(utterance) for utterance in self._utterances]

    def reply(self, context: Context) -> str:
        said = {said_key(turn) for turn in context.turns}
        unsaid = [utterance for utterance, key in zip(self._utterances, self._keys, strict=True) if key not in said]
        return chance_in(self._seed, context).choice(unsaid or self._utterances)
