"""An export in batches: one is read while nothing else of the file is in memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from pydantic import BaseModel

from spotthebot.kit.exports.formats import ExportFormat, open_exporter


async def export(
    batches: AsyncIterator[Sequence[BaseModel]],
    form: ExportFormat,
    schema: type[BaseModel],
    *,
    rows: int,
    card: str = "",
) -> AsyncIterator[bytes]:
    """Yield the bytes of a file of `rows` rows; batches are written in threads, since that takes processor time."""
    file = await asyncio.to_thread(open_exporter, form, schema, rows=rows, card=card)
    async for batch in batches:
        yield await asyncio.to_thread(file.add, batch)
    yield await asyncio.to_thread(file.close)
