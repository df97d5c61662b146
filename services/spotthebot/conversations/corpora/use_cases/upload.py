"""Stores the dialogues of a file during its upload, in batches.

After an interruption, the batches stored so far stay.
"""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from spotthebot.contracts.conversations.corpora import Upload, UploadOut
from spotthebot.conversations.corpora import store
from spotthebot.conversations.corpora.domain.corpora import Dialogue, DialogueOutcome
from spotthebot.conversations.corpora.use_cases.read import read_upload
from spotthebot.kit.database.sessions import Database


async def store_upload(database: Database, corpus_id: UUID, upload: Upload, pieces: AsyncIterator[bytes]) -> UploadOut:
    """Store the dialogues of a file that arrives in pieces; return the number of each outcome.

    Raises NoSuchCorpus, and the errors of `read_upload`.
    """

    async def add(dialogues: Sequence[Dialogue]) -> Sequence[DialogueOutcome]:
        async with database.write() as session:
            return await store.add_dialogues(session, corpus_id, dialogues)

    async with database.read() as session:
        await store.get_corpus(session, corpus_id)
    return await read_upload(upload, pieces, add)
