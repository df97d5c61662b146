"""`/v1/corpora`: dialogues of people, for training, as openings, and for mixing into collections."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.requests import ClientDisconnect

from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.corpora import (
    CorpusChangesIn,
    CorpusFormat,
    CorpusIn,
    CorpusOut,
    DialogueBatchIn,
    DialogueOut,
    LearnableRevisionOut,
    Upload,
    UploadOut,
)
from spotthebot.contracts.wire import Name, Split
from spotthebot.conversations.corpora import store
from spotthebot.conversations.corpora.domain.corpora import Corpus, Dialogue, DialogueOutcome
from spotthebot.conversations.corpora.errors import UploadCutShort
from spotthebot.conversations.corpora.use_cases.learn import Learner, get_learnable_revision, list_learnable
from spotthebot.conversations.corpora.use_cases.upload import store_upload
from spotthebot.conversations.deps import Admin, DialogueReader, LearningService, Reader, Uploader
from spotthebot.kit.web.core.bodies import file_upload, large_batch
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

router = APIRouter(prefix="/v1/corpora", tags=["corpora"], route_class=IdempotentRoute)
_DIALOGUES = large_batch(max_bytes=32 * 1024 * 1024, max_values=500_000)


@router.post("", status_code=201, operation_id="create_corpus")
async def create_corpus(session: Writing, _caller: Admin, request: CorpusIn) -> CorpusOut:
    """Create an empty corpus."""
    return _to_out(await store.add_corpus(session, request))


@router.get("", operation_id="list_corpora")
async def list_corpora(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[CorpusOut]:
    """List corpora, oldest first."""
    rows = await store.list_corpora(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda corpus: corpus.id, to_out=_to_out)


@router.get("/{corpus_id}", operation_id="get_corpus")
async def get_corpus(session: Reading, _caller: Reader, corpus_id: UUID) -> CorpusOut:
    """Return a corpus and the statistics of its splits."""
    return _to_out(await store.get_corpus(session, corpus_id))


@router.patch("/{corpus_id}", operation_id="change_corpus")
async def change_corpus(session: Writing, _caller: Admin, corpus_id: UUID, changes: CorpusChangesIn) -> CorpusOut:
    """Change which team's bots may learn from a corpus. Bots without permission stop replying within ten seconds."""
    return _to_out(await store.change_corpus(session, corpus_id, changes))


@router.post("/{corpus_id}/dialogues", status_code=201, operation_id="add_dialogues", openapi_extra=_DIALOGUES)
async def add_dialogues(session: Writing, _caller: Admin, corpus_id: UUID, batch: DialogueBatchIn) -> StoredOut:
    """Add dialogues. Dialogues with a stored key stay unchanged, so a batch can be sent again."""
    await store.get_corpus(session, corpus_id)
    dialogues = [Dialogue(each.key, each.split, each.turns, each.persona, each.metadata) for each in batch.dialogues]
    outcomes = await store.add_dialogues(session, corpus_id, dialogues)
    stored = outcomes.count(DialogueOutcome.STORED)
    return StoredOut(stored=stored, already_there=len(outcomes) - stored)


@router.post(
    "/{corpus_id}/uploads",
    operation_id="upload_dialogues",
    openapi_extra=file_upload(setting="largest_upload_bytes"),
)
async def upload_dialogues(
    database: Pool,
    _caller: Uploader,
    corpus_id: UUID,
    request: Request,
    form: Annotated[CorpusFormat, Query(alias="format", description="How the file is written.")],
    split: Annotated[Split | None, Query(description="The split of all dialogues, whatever the file says.")] = None,
    splits: Annotated[
        str | None, Query(max_length=1000, description="Shares of splits, drawn by a hash of each dialogue's key.")
    ] = None,
    speakers: Annotated[
        Literal["humans", "all"], Query(description="`spot_the_bot`: whether dialogues with bots are stored too.")
    ] = "humans",
) -> UploadOut:
    """Store the dialogues of a file of any size, sent as it is. Lines without a dialogue are rejected one by one.

    A file can be sent again, also after an interruption: dialogues are recognised by their key, or by their turns if
    the file has no keys. No Idempotency-Key is needed.
    """
    upload = Upload(form, split, splits, bots_too=speakers == "all")
    return await store_upload(database, corpus_id, upload, pieces_of(request))


@router.get("/{corpus_id}/dialogues", operation_id="list_dialogues")
async def list_dialogues(
    session: Reading,
    _caller: DialogueReader,
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
        key=lambda dialogue: dialogue.id,
        to_out=DialogueOut.of,
    )


Team = Annotated[Name | None, Query(description="The team whose bots learn; left out: the operator.")]


@router.get("/{corpus_id}/learnable-dialogues", operation_id="list_learnable_dialogues")
async def list_learnable_dialogues(
    session: Reading,
    _caller: LearningService,
    corpus_id: UUID,
    paging: Paging,
    split: Annotated[Split, Query()],
    team: Team = None,
) -> Page[DialogueOut]:
    """List the dialogues of a split that bots of a team may learn from, in the order of their upload.

    A page may hold fewer than `limit` dialogues, because held-out dialogues are left out. Held-out dialogues are
    dialogues that conversations of collections contain.
    """
    found = await list_learnable(session, corpus_id, split, Learner(team), after=paging.after, limit=paging.limit + 1)
    page = page_of(found.dialogues, paging, key=lambda dialogue: dialogue.id, to_out=lambda dialogue: dialogue)
    learnable = [DialogueOut.of(each) for each in page.items if each.id not in found.held_out]
    return Page(items=learnable, next_cursor=page.next_cursor)


@router.get("/{corpus_id}/learnable-dialogues/revision", operation_id="learnable_revision")
async def learnable_revision(
    session: Reading,
    _caller: LearningService,
    corpus_id: UUID,
    split: Annotated[Split, Query()],
    team: Team = None,
) -> LearnableRevisionOut:
    """Return a text that changes whenever bots of a team may learn from other dialogues than before."""
    return LearnableRevisionOut(revision=await get_learnable_revision(session, corpus_id, split, Learner(team)))


def _to_out(corpus: Corpus) -> CorpusOut:
    return CorpusOut.of(
        corpus,
        dialogues={split: held.dialogues for split, held in corpus.splits.items()},
        statistics=corpus.splits,
    )


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """Yield an uploaded file as it arrives; raises UploadCutShort if the client disconnects."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise UploadCutShort from None
