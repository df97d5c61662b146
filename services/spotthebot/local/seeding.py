"""Fills a suite with the sample corpus, built-in bots, and simulated annotators who know the corpus."""

from uuid import UUID

from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.corpora import CorpusIn, CorpusOut, CorpusVisibility, DialogueBatchIn
from spotthebot.local import sample
from spotthebot.local.runtime.session import Clients
from spotthebot.simulation.annotator import SimulatedAnnotator, crowd

BUILT_IN = ("retrieval", "ngram", "eliza", "stray", "parrot", "dull")
"""Models that need no network and no download."""
LEARNING = frozenset({"retrieval", "ngram", "stray"})
"""Built-in models that learn from a corpus."""


async def upload_sample(clients: Clients) -> UUID:
    """Upload the sample corpus if it is missing; return its id."""
    corpus = await _find_or_create_sample(clients)
    batch = DialogueBatchIn.model_validate({"dialogues": sample.sample_dialogues()})
    await clients.conversations.add_dialogues(corpus.id, batch)
    return corpus.id


async def register_built_in(clients: Clients, model: str, *, domain: str, corpus_id: UUID | None) -> UUID:
    """Register a bot under the model's name if it is missing; return its id. Models that learn get `corpus_id`."""
    async for bot in clients.bots.list_bots(name=model):
        return bot.id
    learns = model in LEARNING and corpus_id is not None
    protocol = {"kind": "builtin", "model": model} | ({"corpus_id": corpus_id} if learns else {})
    request = BotIn(
        name=model, description="Built in.", domains=(domain,), protocol=BuiltinProtocol.model_validate(protocol)
    )
    return (await clients.bots.register_bot(request)).id


async def _find_or_create_sample(clients: Clients) -> CorpusOut:
    async for corpus in clients.conversations.list_corpora(name=sample.NAME):
        return corpus
    request = CorpusIn(
        name=sample.NAME,
        domain=sample.DOMAIN,
        origin=sample.ORIGIN,
        licence=sample.LICENCE,
        visibility=CorpusVisibility.SHARED,
    )
    return await clients.conversations.create_corpus(request)


def simulated_annotators(count: int, *, seed: int) -> tuple[SimulatedAnnotator, ...]:
    """Return simulated annotators who have read the dialogues of the sample corpus that bots learn from."""
    dialogues = [tuple(each["turns"]) for each in sample.sample_dialogues() if each["split"] == "train"]
    return crowd(count, seed=seed, dialogues=dialogues)
