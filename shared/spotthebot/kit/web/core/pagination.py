"""Pages of a list by cursor. They stay stable while rows are added, and page 1,000 is as fast as page 1.

A cursor contains the row after which the next page begins, and a tag that identifies the list by its path and filters.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field

from spotthebot.kit.errors import Invalid

MAX_LIMIT = 1000
"""The limit of items on one page."""
_LIST_BYTES = 8
_ID_BYTES = 16
_MAX_NUMBER = 2**31 - 1
_NOT_FILTERS = frozenset({"cursor", "limit"})
Item = TypeVar("Item")
Row = TypeVar("Row")


class BadCursor(Invalid):
    """The cursor is not one of this list: take `next_cursor` of the page before, with its filters, or leave it out."""


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item] = Field(max_length=MAX_LIMIT)
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last.")


class PageRequest(BaseModel):
    """The requested page: at most `limit` rows after the row `after`. `list_tag` identifies the list in cursors."""

    after: UUID | None
    limit: int
    list_tag: bytes

    @property
    def after_number(self) -> int | None:
        """Return the number after which the page begins, in a list of numbered rows; raises BadCursor."""
        if self.after is None:
            return None
        if self.after.int > _MAX_NUMBER:
            raise BadCursor
        return self.after.int


def page_request(cursor: str | None, limit: int, list_tag: bytes) -> PageRequest:
    """Return the page that a cursor and a limit request; raises BadCursor."""
    if cursor is None:
        return PageRequest(after=None, limit=limit, list_tag=list_tag)
    try:
        decoded = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadCursor from None
    if decoded[_ID_BYTES:] != list_tag:
        raise BadCursor
    return PageRequest(after=UUID(bytes=decoded[:_ID_BYTES]), limit=limit, list_tag=list_tag)


def list_tag(path: str, filters: Iterable[tuple[str, str]]) -> bytes:
    """Return a short hash of a list's path and filters."""
    named = sorted(each for each in filters if each[0] not in _NOT_FILTERS)
    return hashlib.sha256(repr((path, named)).encode()).digest()[:_LIST_BYTES]


async def _paging(  # a coroutine: FastAPI calls a function in another thread
    request: Request,
    cursor: Annotated[str | None, Query(max_length=100, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Most items to return.")] = 50,
) -> PageRequest:
    return page_request(cursor, limit, list_tag(request.scope["path"], request.query_params.multi_items()))


Paging = Annotated[PageRequest, Depends(_paging)]
Order = Annotated[Literal["oldest_first", "newest_first"], Query(description="In which order the list comes.")]


def page_of(
    rows: Sequence[Row],
    request: PageRequest,
    *,
    key: Callable[[Row], UUID],
    to_out: Callable[[Row], Item],
    searched_to: UUID | None = None,
) -> Page[Item]:
    """Make a page from rows. Fetch `limit + 1` rows: the additional row shows that there is a next page.

    If a search stopped before the end of the list, `searched_to` is the last row that it examined.
    """
    shown = rows[: request.limit]
    last = key(shown[-1]) if len(rows) > request.limit else searched_to
    cursor = base64.urlsafe_b64encode(last.bytes + request.list_tag).decode() if last else None
    return Page(items=[to_out(row) for row in shown], next_cursor=cursor)


def page_of_list(entries: Sequence[Item], request: PageRequest) -> Page[Item]:
    """Make a page from a whole list that is in memory; entries are numbered by their place."""
    begin = 0 if request.after_number is None else request.after_number + 1
    rows = [*enumerate(entries)][begin : begin + request.limit + 1]
    return page_of(rows, request, key=lambda row: UUID(int=row[0]), to_out=lambda row: row[1])
