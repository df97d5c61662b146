"""What the pages with payments share: the first payments of a list, for sums, and the answer with a file."""

from collections.abc import AsyncIterable
from typing import Final, TypeVar

from starlette.responses import Response

from spotthebot.contracts.terms import PaymentFile

AT_ONCE: Final = 1000
MOST: Final = 10_000
"""The maximum number of people in the sums of a page. The file has all people."""
_Item = TypeVar("_Item")


async def first_of(listed: AsyncIterable[_Item]) -> list[_Item]:
    """Return the first items of a list, `MOST` at most."""
    found: list[_Item] = []
    async for each in listed:
        found.append(each)
        if len(found) == MOST:
            break
    return found


def as_csv(kind: PaymentFile, content: str) -> Response:
    """Return a payment file as an answer that no cache keeps."""
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"', "Cache-Control": "no-store"}
    return Response(content, media_type="text/csv", headers=headers)
