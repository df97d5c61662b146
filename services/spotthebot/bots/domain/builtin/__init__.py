"""The built-in bots: small, real, CPU-only partners for demonstrations, tests and baselines.

They differ plainly in strength, from one that answers with what people answered to a similar
utterance down to one that only repeats its partner. The reply of each is a function of the bot's
seed and the context alone: equal inputs give equal replies in every process, and no bot remembers
anything between calls.
"""

from collections.abc import Sequence

from spotthebot.bots.domain.builtin.contract import BuiltinBot, BuiltinModel, CorpusIsNeeded
from spotthebot.bots.domain.builtin.dull import DullBot
from spotthebot.bots.domain.builtin.eliza import ElizaBot
from spotthebot.bots.domain.builtin.ngram import NgramBot
from spotthebot.bots.domain.builtin.parrot import ParrotBot
from spotthebot.bots.domain.builtin.retrieval import RetrievalBot
from spotthebot.bots.domain.builtin.stray import StrayBot
from spotthebot.bots.domain.dialogue import Dialogue

__all__ = ["BuiltinBot", "BuiltinModel", "CorpusIsNeeded", "build"]


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
