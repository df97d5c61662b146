"""Asks for a collection's conversations to be marked; what marks them runs in a worker."""

from datetime import timedelta
from uuid import UUID

from spotthebot.contracts.conversations import MarksIn, TrainingSplit
from spotthebot.conversations import store
from spotthebot.conversations.domain.errors import NoSuchCorpus, SplitIsEmpty, UnknownCorpusInPlan
from spotthebot.kit.database import WriteSession
from spotthebot.kit.jobs import Jobs

MARK_CONVERSATIONS = "conversations:mark_conversations"
_AFTER_FINISHING = timedelta(seconds=2)
"""Whoever waited for the collection reads it first, with all the processor there is."""


async def request_marks(session: WriteSession, jobs: Jobs, collection_id: UUID) -> None:
    """Have a collection marked, in the transaction that finishes it."""
    await store.markings.request(session, collection_id)
    await _queue(session, jobs, collection_id, _AFTER_FINISHING)


async def request_marks_against(
    session: WriteSession, jobs: Jobs, collection_id: UUID, wanted: MarksIn
) -> store.markings.Marking:
    """Have a collection marked, and held against a training split.

    Raises NoSuchCollection, UnknownCorpusInPlan, SplitIsEmpty.
    """
    await store.collections.get_collection(session, collection_id)
    if wanted.training is not None:
        await _check(session, wanted.training)
    await store.markings.request_against(session, collection_id, wanted.training)
    await _queue(session, jobs, collection_id)
    return await store.markings.get(session, collection_id)


async def _queue(session: WriteSession, jobs: Jobs, collection_id: UUID, delay: timedelta | None = None) -> None:
    arguments = {"collection_id": str(collection_id)}
    await jobs.defer(session, MARK_CONVERSATIONS, arguments, lock=f"marks/{collection_id}", delay=delay)


async def _check(session: WriteSession, training: TrainingSplit) -> None:
    try:
        corpus = await store.corpora.get_corpus(session, training.corpus_id)
    except NoSuchCorpus as error:
        raise UnknownCorpusInPlan(corpus_id=training.corpus_id) from error
    if training.split not in corpus.splits:
        raise SplitIsEmpty(corpus=corpus.name, split=training.split)
