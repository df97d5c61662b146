"""Sends files of dialogues to corpora, as they are."""

import asyncio
from pathlib import Path
from typing import Literal

from spotthebot.clients import AsyncConversations
from spotthebot.contracts.conversations import CorpusFormat, CorpusIn, CorpusOut, UploadOut
from spotthebot.suite.progress import Steps


async def add_file(
    conversations: AsyncConversations,
    request: CorpusIn,
    file: Path,
    form: CorpusFormat,
    steps: Steps,
    *,
    split: str | None = None,
    splits: str | None = None,
    speakers: Literal["humans", "all"] | None = None,
) -> tuple[CorpusOut, UploadOut]:
    """Upload a file to the corpus of this name, which is created where there is none; can be repeated."""
    corpus = await _find_or_create(conversations, request)
    with steps.step(f"Sending {file.name}", (await asyncio.to_thread(file.stat)).st_size) as step:
        done = await conversations.upload_dialogues(
            corpus.id, step.read(file), form, split=split, splits=splits, speakers=speakers
        )
    return await conversations.get_corpus(corpus.id), done


async def _find_or_create(conversations: AsyncConversations, request: CorpusIn) -> CorpusOut:
    found = (await conversations.list_corpora(name=request.name).page()).items
    return found[0] if found else await conversations.create_corpus(request)
