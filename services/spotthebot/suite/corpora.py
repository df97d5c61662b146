"""Sends files of dialogues to corpora, as they are, and lists what corpora there are."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from spotthebot.contracts.conversations import CorpusFormat, CorpusIn, CorpusOut, UploadOut
from spotthebot.kit.client import ServiceClient
from spotthebot.suite.progress import Step, Steps

_PIECE_BYTES = 256 * 1024


async def add_file(
    conversations: ServiceClient,
    request: CorpusIn,
    file: Path,
    form: CorpusFormat,
    steps: Steps,
    **choices: str | None,
) -> tuple[CorpusOut, UploadOut]:
    """Upload a file to the corpus of this name, which is created where there is none; can be repeated.

    `choices` are the upload's `split`, `splits` and `speakers`.
    """
    corpus = await _find_or_create(conversations, request)
    params = {"format": form.value} | {name: value for name, value in choices.items() if value is not None}
    with steps.step(f"Sending {file.name}", (await asyncio.to_thread(file.stat)).st_size) as step:
        done = await conversations.send(f"/v1/corpora/{corpus['id']}/uploads", _pieces(file, step), params)
    held = await conversations.get(f"/v1/corpora/{corpus['id']}")
    return CorpusOut.model_validate(held), UploadOut.model_validate(done)


async def list_corpora(conversations: ServiceClient) -> list[CorpusOut]:
    """Return all corpora, oldest first."""
    return [CorpusOut.model_validate(each) async for each in conversations.pages("/v1/corpora")]


async def _find_or_create(conversations: ServiceClient, request: CorpusIn) -> Any:  # noqa: ANN401 - JSON
    found = (await conversations.get("/v1/corpora", {"name": request.name}))["items"]
    return found[0] if found else await conversations.post("/v1/corpora", request.model_dump(mode="json"))


async def _pieces(file: Path, step: Step) -> AsyncIterator[bytes]:
    with file.open("rb") as opened:
        while piece := await asyncio.to_thread(opened.read, _PIECE_BYTES):
            yield piece
            step.advance(len(piece))
