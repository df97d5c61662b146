"""Whole lists as NDJSON, one object in each line, for services and researchers that need every row."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel
from starlette.responses import StreamingResponse

_ROWS_AT_ONCE = 500

Row = TypeVar("Row")
Session_co = TypeVar("Session_co", covariant=True)


class Readable(Protocol[Session_co]):
    """A source of rows: `kit.database.Database`, or another object with sessions."""

    def read(self) -> AbstractAsyncContextManager[Session_co]:
        """Open a session for reading."""


def stream(
    database: Readable[Session_co],
    fetch: Callable[[Session_co, UUID | None, int], Awaitable[Sequence[Row]]],
    *,
    key: Callable[[Row], UUID],
    to_out: Callable[[Row], BaseModel],
    is_sent: Callable[[Row], bool] = lambda _row: True,
) -> StreamingResponse:
    """Answer with rows that `fetch(session, after, limit)` returns in batches. Only one batch is in memory at a time.

    An error during the stream closes the connection, so that the reader sees an incomplete body.
    """

    async def lines() -> AsyncIterator[str]:
        after: UUID | None = None
        while True:
            async with database.read() as session:
                rows = await fetch(session, after, _ROWS_AT_ONCE)
            if not rows:
                return
            yield "".join(f"{to_out(row).model_dump_json()}\n" for row in rows if is_sent(row))
            after = key(rows[-1])

    return StreamingResponse(lines(), media_type="application/x-ndjson")
