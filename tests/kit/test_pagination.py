from uuid import UUID

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.kit.web.core.pagination import BadCursor, PageRequest, page_of, page_request
from tests.kit.conftest import Edge


@given(st.sets(st.uuids(), max_size=30), st.integers(1, 10))
def test_pages_put_end_to_end_are_the_list(ids: set[UUID], limit: int):
    ordered = sorted(ids)
    seen: list[UUID] = []
    cursor: str | None = None
    for _ in range(len(ordered) + 1):
        request = page_request(cursor, limit, b"the list")
        rows = [each for each in ordered if request.after is None or each > request.after][: request.limit + 1]
        page = page_of(rows, request, key=lambda row: row, to_out=lambda row: row)
        assert len(page.items) <= limit
        seen += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ordered


@pytest.mark.parametrize(("count", "more"), [(0, False), (2, False), (3, True)])
def test_a_next_page_is_promised_only_where_there_is_one(count: int, more: bool):
    rows = [UUID(int=number) for number in range(count)]
    page = page_of(
        rows, PageRequest(after=None, limit=2, list_tag=b"the list"), key=lambda row: row, to_out=lambda row: row
    )
    assert (page.next_cursor is not None) is more


@pytest.mark.parametrize(("number", "is_in_range"), [(0, True), (2**31 - 1, True), (2**31, False)])
def test_a_cursor_of_a_numbered_list_holds_what_postgresql_takes_for_an_integer(number: int, is_in_range: bool):
    request = PageRequest(after=UUID(int=number), limit=2, list_tag=b"the list")
    if is_in_range:
        assert request.after_number == number
        return
    with pytest.raises(BadCursor):
        _ = request.after_number


class TestPages:
    async def test_all_rows_come_once_while_rows_are_added(self, edge: Edge, admin: httpx.AsyncClient):
        edge.fill([str(number) for number in range(7)])
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
            page = (await admin.get("/things", params=params)).json()
            seen += [item["name"] for item in page["items"]]
            cursor = page["next_cursor"]
            if len(seen) == 3:
                await admin.post("/things", json={"name": "late"})
            if cursor is None:
                break
        assert seen == [*map(str, range(7)), "late"]

    @pytest.mark.parametrize("cursor", ["nonsense", "ÄÖÜ", "AAAA", "%00", "=", "A" * 101])
    async def test_a_made_up_cursor_is_refused(self, admin: httpx.AsyncClient, cursor: str):
        answer = await admin.get("/things", params={"cursor": cursor})
        assert answer.status_code == 422
        assert "cursor" in answer.json()["detail"]

    async def test_have_fifty_rows_unless_more_are_asked_for(self, edge: Edge, admin: httpx.AsyncClient):
        edge.fill([str(number) for number in range(51)])
        assert len((await admin.get("/things")).json()["items"]) == 50
        assert len((await admin.get("/things", params={"limit": "1000"})).json()["items"]) == 51

    @pytest.mark.parametrize("limit", ["0", "-1", "1001", "many"])
    async def test_a_limit_out_of_bounds_is_refused(self, admin: httpx.AsyncClient, limit: str):
        answer = await admin.get("/things", params={"limit": limit})
        assert answer.status_code == 422
        assert [fault["parameter"] for fault in answer.json()["errors"]] == ["limit"]
