"""Uploads files of dialogues to corpora unchanged."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from spotthebot.clients import AsyncConversations
from spotthebot.contracts.conversations.corpora import CorpusIn, CorpusOut, Upload, UploadOut
from spotthebot.conversations.corpora.use_cases.read import check_upload
from spotthebot.local.progress import Steps


async def check_file(file: Path, upload: Upload, steps: Steps) -> UploadOut:
    """Return the answer that an upload of the file to an empty corpus would get; raises the errors of the upload."""
    with steps.step(f"Checking {file.name}", (await asyncio.to_thread(file.stat)).st_size) as step:
        return await check_upload(upload, _in_thread(step.read(file)))


async def _in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


async def add_file(
    conversations: AsyncConversations,
    request: CorpusIn,
    file: Path,
    upload: Upload,
    steps: Steps,
) -> tuple[CorpusOut, UploadOut]:
    """Upload a file to the corpus of this name, and create the corpus if it is missing; a repeat adds nothing."""
    corpus = await _find_or_create(conversations, request)
    with steps.step(f"Sending {file.name}", (await asyncio.to_thread(file.stat)).st_size) as step:
        done = await conversations.upload_dialogues(
            corpus.id,
            step.read(file),
            upload.form,
            split=upload.split,
            splits=upload.splits,
            speakers="all" if upload.bots_too else None,
        )
    return await conversations.get_corpus(corpus.id), done


async def _find_or_create(conversations: AsyncConversations, request: CorpusIn) -> CorpusOut:
    found = (await conversations.list_corpora(name=request.name).page()).items
    return found[0] if found else await conversations.create_corpus(request)
