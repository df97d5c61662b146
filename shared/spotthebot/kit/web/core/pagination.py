"""Pages of a list by cursor: stable while rows are added, and as fast on page 1,000 as on page 1."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Depends, Query
from pydantic import BaseModel, Field

from spotthebot.kit.errors import Invalid

Item = TypeVar("Item")
Row = TypeVar("Row")


class BadCursor(Invalid):
    """The cursor is not one that we gave: take `next_cursor` from the page before, or leave it out."""


class Page(BaseModel, Generic[Item]):
    """One page of a list, oldest first."""

    items: list[Item]
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last.")


class PageRequest(BaseModel):
    """Which page: rows with an id after `after`, at most `limit`."""

    after: UUID | None
    limit: int


def page_request(cursor: str | None, limit: int) -> PageRequest:
    """Return the request that a cursor and a limit stand for; raises BadCursor."""
    if cursor is None:
        return PageRequest(after=None, limit=limit)
    try:
        after = UUID(bytes=base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError):
        raise BadCursor from None
    return PageRequest(after=after, limit=limit)


async def _paging(  # a coroutine: FastAPI calls a function in another thread
    cursor: Annotated[str | None, Query(max_length=100, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most items to return.")] = 50,
) -> PageRequest:
    return page_request(cursor, limit)


Paging = Annotated[PageRequest, Depends(_paging)]


def page_of(
    rows: Sequence[Row], request: PageRequest, *, key: Callable[[Row], UUID], to_out: Callable[[Row], Item]
) -> Page[Item]:
    """Shape rows into a page. Fetch `limit + 1` rows: the one too many says that there is a next page."""
    shown = rows[: request.limit]
    more = len(rows) > request.limit
    cursor = base64.urlsafe_b64encode(key(shown[-1]).bytes).decode() if more else None
    return Page(items=[to_out(row) for row in shown], next_cursor=cursor)
