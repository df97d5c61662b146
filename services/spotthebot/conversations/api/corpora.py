"""`/v1/corpora`: human dialogues to learn from, to open conversations with, to mix in."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations import CorpusIn, CorpusOut, DialogueBatchIn, DialogueOut, StoredOut
from spotthebot.contracts.wire import Name, Split
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import Admin, Reader
from spotthebot.kit.web.idempotency import IdempotentRoute
from spotthebot.kit.web.pagination import Page, Paging, page_of
from spotthebot.kit.web.sessions import Reading, Writing

router = APIRouter(prefix="/v1/corpora", tags=["corpora"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="create_corpus")
async def create_corpus(session: Writing, _caller: Admin, wanted: CorpusIn) -> CorpusOut:
    """Create an empty corpus."""
    return _shape(await store.add_corpus(session, **wanted.model_dump()))


@router.get("", operation_id="list_corpora")
async def list_corpora(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[CorpusOut]:
    """List corpora, oldest first."""
    rows = await store.list_corpora(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda corpus: corpus.id, shape=_shape)


@router.get("/{corpus_id}", operation_id="get_corpus")
async def get_corpus(session: Reading, _caller: Reader, corpus_id: UUID) -> CorpusOut:
    """Return a corpus and how many dialogues it has by split."""
    return _shape(await store.get_corpus(session, corpus_id))


@router.post("/{corpus_id}/dialogues", status_code=201, operation_id="add_dialogues")
async def add_dialogues(session: Writing, _caller: Admin, corpus_id: UUID, batch: DialogueBatchIn) -> StoredOut:
    """Add dialogues; one whose key is known is left as it is, so a batch can be sent again."""
    await store.get_corpus(session, corpus_id)
    stored = await store.add_dialogues(session, corpus_id, batch.dialogues)
    return StoredOut(stored=stored, already_there=len(batch.dialogues) - stored)


@router.get("/{corpus_id}/dialogues", operation_id="list_dialogues")
async def list_dialogues(
    session: Reading,
    _caller: Reader,
    corpus_id: UUID,
    paging: Paging,
    split: Annotated[Split | None, Query()] = None,
) -> Page[DialogueOut]:
    """List dialogues in the order of their upload."""
    await store.get_corpus(session, corpus_id)
    rows = await store.list_dialogues(session, corpus_id, split=split, after=paging.after, limit=paging.limit + 1)
    return page_of(
        rows,
        paging,
        key=lambda row: row.id,
        shape=lambda row: DialogueOut(key=row.key, split=row.split, turns=tuple(row.turns)),
    )


def _shape(corpus: store.Corpus) -> CorpusOut:
    return CorpusOut(
        id=corpus.id,
        name=corpus.name,
        domain=corpus.domain,
        origin=corpus.origin,
        licence=corpus.licence,
        dialogues=dict(corpus.dialogues),
        created_at=corpus.created_at,
    )
