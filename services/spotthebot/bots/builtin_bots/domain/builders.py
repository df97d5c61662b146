"""The built-in bots: small, real, CPU-only partners for demonstrations, tests and baselines.

They differ plainly in strength. The best bot replies with people's answers to a similar utterance, the worst bot only
repeats its partner. A reply depends only on the bot's seed and the context: equal inputs give equal replies in every
process, and no bot remembers anything between calls.
"""

from collections.abc import Sequence

from spotthebot.bots.builtin_bots.domain.contract import BuiltinBot, BuiltinModel
from spotthebot.bots.builtin_bots.domain.dull import DullBot
from spotthebot.bots.builtin_bots.domain.eliza import ElizaBot
from spotthebot.bots.builtin_bots.domain.ngram import NgramBot
from spotthebot.bots.builtin_bots.domain.parrot import ParrotBot
from spotthebot.bots.builtin_bots.domain.retrieval import RetrievalBot
from spotthebot.bots.builtin_bots.domain.stray import StrayBot
from spotthebot.bots.questions.domain.dialogue import Dialogue


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
