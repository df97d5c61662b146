"""Requests a quality check of a collection, which a job performs."""

from datetime import timedelta
from uuid import UUID

from spotthebot.contracts.conversations.quality import QualityCheckIn, TrainingSplit
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.errors import NoSuchCorpus, SplitIsEmpty, UnknownCorpusInPlan
from spotthebot.conversations.quality.domain.checks import QualityCheck
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs.queue import Jobs

FLAG_CONVERSATIONS = "conversations:flag_conversations"
_DELAY_AFTER_COLLECTION = timedelta(seconds=2)
"""The delay lets clients that waited for the collection read it first, with the whole processor."""


async def request_check(session: WriteSession, jobs: Jobs, collection_id: UUID) -> None:
    """Request the check of a collection, in the transaction that finishes the collection."""
    await checks_store.request_check(session, collection_id)
    await _queue(session, jobs, collection_id, _DELAY_AFTER_COLLECTION)


async def request_check_against(
    session: WriteSession, jobs: Jobs, collection_id: UUID, request: QualityCheckIn
) -> QualityCheck:
    """Request the check of a collection and its comparison with a training split.

    Raises NoSuchCollection, UnknownCorpusInPlan, SplitIsEmpty.
    """
    await collections_store.get_collection(session, collection_id)
    if request.training is not None:
        await _require_split(session, request.training)
    await checks_store.request_check_against(session, collection_id, request.training)
    await _queue(session, jobs, collection_id)
    return await checks_store.get_check(session, collection_id)


def lock_of(collection_id: UUID | str) -> str:
    """Return the name of the lock that serialises the checks of a collection."""
    return f"quality/{collection_id}"


async def _queue(session: WriteSession, jobs: Jobs, collection_id: UUID, delay: timedelta | None = None) -> None:
    arguments = {"collection_id": str(collection_id)}
    await jobs.defer(session, FLAG_CONVERSATIONS, arguments, lock=lock_of(collection_id), delay=delay)


async def _require_split(session: WriteSession, training: TrainingSplit) -> None:
    await corpora_store.lock_corpora(session, [training.corpus_id])
    try:
        corpus = await corpora_store.get_corpus(session, training.corpus_id)
    except NoSuchCorpus as error:
        raise UnknownCorpusInPlan(corpus_id=training.corpus_id) from error
    if training.split not in corpus.splits:
        raise SplitIsEmpty(corpus=corpus.name, split=training.split)
