"""Writes an export in batches. Only one batch is in memory at a time."""

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
    """Yield the bytes of a file of `rows` rows. Threads write the batches, since writing takes processor time."""
    file = await asyncio.to_thread(open_exporter, form, schema, rows=rows, card=card)
    async for batch in batches:
        yield await asyncio.to_thread(file.add, batch)
    yield await asyncio.to_thread(file.close)
