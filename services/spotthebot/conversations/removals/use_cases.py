"""Removes unused corpora: hidden at once, then deleted by a job."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.removals import store
from spotthebot.conversations.removals.errors import CorpusInCollections, CorpusIsLearned
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.text.names import listed

DELETE_CORPUS: Final = "conversations:delete_corpus"
DELETIONS: Final = "deletions"
"""A separate queue, so that quality checks, which take minutes, do not delay these jobs."""
_DIALOGUES_AT_ONCE: Final = 5000

_log = get_logger(__name__)


async def find_learners(bots: Bots, corpus_id: UUID) -> tuple[str, ...]:
    """Return the names of bots that learn from a corpus and are not retired."""
    found = await bots.find_named(None, None)
    return tuple(bot.name for bot in found if bot.status is not BotStatus.RETIRED and _learns(bot.protocol, corpus_id))


async def remove_corpus(
    session: WriteSession, jobs: Jobs, corpus_id: UUID, learners: Sequence[str], *, key_id: UUID
) -> None:
    """Hide a corpus for good and queue the job that deletes its dialogues; the service's log names the API key.

    Raises NoSuchCorpus, CorpusInCollections, CorpusIsLearned.
    """
    corpus = await corpora_store.mark_removed(session, corpus_id)
    if users := await store.list_users(session, corpus_id):
        raise CorpusInCollections(name=corpus.name, collections=listed(users))
    if learners:
        raise CorpusIsLearned(name=corpus.name, bots=listed(learners))
    await jobs.defer(session, DELETE_CORPUS, {"corpus_id": str(corpus_id)}, queue=DELETIONS)
    dialogues = sum(held.dialogues for held in corpus.splits.values())
    _log.info("corpus.removed", corpus=str(corpus_id), name=corpus.name, dialogues=dialogues, key=str(key_id))


async def delete_corpus(database: Database, corpus_id: UUID) -> None:
    """Delete a removed corpus, some dialogues in each transaction; a restarted job continues."""
    left = True
    while left:
        async with database.write() as session:
            left = bool(await corpora_store.delete_dialogues(session, corpus_id, _DIALOGUES_AT_ONCE))


def _learns(protocol: object, corpus_id: UUID) -> bool:
    return isinstance(protocol, BuiltinProtocol) and protocol.corpus_id == corpus_id
