"""The built-in bots: small, real, CPU-only partners for demonstrations, tests and baselines.

They differ plainly in strength, from one that answers with what people answered to a similar
utterance down to one that only repeats its partner. The reply of each is a function of the bot's
seed and the context alone: equal inputs give equal replies in every process, and no bot remembers
anything between calls.
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
    """Make a built-in bot, trained on `dialogues` where it learns; the others ignore them.

    Raises `CorpusIsNeeded` when a learning bot finds nothing to learn: no dialogues, only blank
    turns, or, for retrieval, no turn that anybody answered.
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
