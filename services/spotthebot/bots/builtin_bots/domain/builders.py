"""The built-in bots: small, real, CPU-only partners for demonstrations, tests and baselines.

They differ plainly in strength. The best bot replies with people's answers to a similar utterance, the worst bot only
repeats its partner. A reply depends only on the bot's seed and the context: equal inputs give equal replies in every
process, and no bot remembers anything between calls.
"""

from collections.abc import Sequence

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.builtin_bots.domain.contract import BuiltinBot, BuiltinModel
from spotthebot.bots.builtin_bots.domain.eliza import ElizaBot
from spotthebot.bots.builtin_bots.domain.ngram import NgramBot
from spotthebot.bots.builtin_bots.domain.reflection import reflected
from spotthebot.bots.builtin_bots.domain.retrieval import RetrievalBot
from spotthebot.bots.builtin_bots.domain.words import said_key, sentences, utterances
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.questions.domain.dialogue import Context, Dialogue

ANSWERS = ("I don't know.", "I'm not sure.", "Okay.", "I see.", "That's nice.", "Yes, I think so.", "Me too.")
WEIGHTS = (6, 4, 2, 2, 1, 1, 1)
LONGEST_ECHO = 20
"""The maximum of words repeated from a sentence."""
LONGEST_WORD = 40
"""The maximum of characters repeated from a word."""
_OPENINGS = ("Hello.", "Hi there.", "Hello, hello.")
_ECHOES = ("{}?", "So {}.", "{}, you say?", "Ah, {}.", "You mean {}?")
_QUESTIONS_BACK = ("Well, {}?", "You ask me: {}?", "What do you think, {}?", "Hmm, {}?")


class ParrotBot:
    """Replies with the last sentence of its partner, persons swapped."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def reply(self, context: Context) -> str:
        chance = chance_in(self._seed, context)
        heard = sentences(context.turns[-1]) if context.turns else []
        if not heard:
            return chance.choice(_OPENINGS)
        sentence = heard[-1].strip()
        core = sentence.rstrip(".!?, ") or sentence
        spoken = [word[:LONGEST_WORD] for word in core.split()[:LONGEST_ECHO]]
        echo = reflected([_without_capital(spoken[0]), *spoken[1:]])
        said = chance.choice(_QUESTIONS_BACK if sentence.endswith("?") else _ECHOES).format(echo.rstrip(".!?,"))
        return said[0].upper() + said[1:]


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


class DullBot:
    """Replies with one of a few answers that fit every context, most often with the first of them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def reply(self, context: Context) -> str:
        return chance_in(self._seed, context).choices(ANSWERS, WEIGHTS)[0]


def build(model: BuiltinModel, *, seed: int, dialogues: Sequence[Dialogue] = ()) -> BuiltinBot:
    """Make a built-in bot; learning bots are trained on `dialogues`, other bots ignore them.

    Raises `CorpusIsNeeded` if a learning bot has nothing to learn from: no dialogues, only blank turns, or, for
    retrieval, no answered turn.
    """
    match model:
        case BuiltinModel.RETRIEVAL:
            return RetrievalBot(seed, dialogues)
        case BuiltinModel.NGRAM:
            return NgramBot(seed, dialogues)
        case BuiltinModel.STRAY:
            return StrayBot(seed, dialogues)
        case BuiltinModel.ELIZA:
            return ElizaBot(seed)
        case BuiltinModel.PARROT:
            return ParrotBot(seed)
        case BuiltinModel.DULL:
            return DullBot(seed)


def _without_capital(word: str) -> str:
    return word if word == "I" or word.startswith("I'") or word.isupper() else word[0].lower() + word[1:]
