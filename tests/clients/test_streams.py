"""Answers and bodies that come and go piece by piece, on a wire that answers as each test wants."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest
import respx

from spotthebot.clients import AsyncBots, AsyncConversations, Bots, Conflict, Conversations, PeerUnavailable
from tests.factories.wire import AT_ONCE, BASE, answering

BOT = UUID(int=1)


class TestStreams:
    async def test_one_cut_short_on_the_wire_is_no_success(self):
        line = b'{"event":"progress"}\n'
        half = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(line), line)
        seen: list[bytes] = []
        with answering(half) as url:
            async with AsyncConversations(url, "key", retries=AT_ONCE) as conversations:
                with pytest.raises(PeerUnavailable):
                    async for piece in conversations.export_collection(BOT):
                        seen.append(piece)  # noqa: PERF401 - what came before the error counts
            with Conversations(url, "key", retries=AT_ONCE) as conversations_too:  # noqa: SIM117
                with pytest.raises(PeerUnavailable):
                    for piece in conversations_too.export_collection(BOT):
                        seen.append(piece)  # noqa: PERF402 - what came before the error counts
        assert seen == [line] * 2

    async def test_lines_end_at_line_feeds_only(self, wire: respx.Router):
        """U+2028 and U+0085 end lines for `str.splitlines`, and stand inside JSON strings as they are."""
        participant = '{"kind": "bot", "name": "a\u2028b\u0085c"}'
        line = f'{{"id": "{BOT}", "state": "complete", "participants": [{participant}, {participant}]}}'
        wire.get(f"/v1/collections/{BOT}/speakers/stream").mock(
            return_value=httpx.Response(200, content=f"{line}\n{line}\n".encode())
        )
        async with AsyncConversations(BASE, "key") as conversations:
            names = [each.participants[0].name async for each in conversations.stream_speakers(BOT)]
        assert names == ["a\u2028b\u0085c"] * 2

    async def test_events_are_read_as_the_standard_has_it(self, wire: respx.Router):
        lines = (
            b': a comment\r\n\r\nevent: turn\r\nid: 7\r\ndata: {\r\ndata: "n": 1}\r\nretry: 9\r\n\r\n'
            b'data:{}\n\nevent: typing\n\nevent: done\ndata: {}\n\ndata: {"never": "ended"}\n'
        )  # fmt: skip
        wire.get(f"/v1/chats/{BOT}/events").mock(return_value=httpx.Response(200, content=lines))
        async with AsyncConversations(BASE, "key") as conversations:
            events = [(each.event, each.id, each.data) async for each in conversations.watch_chat(BOT)]
        with Conversations(BASE, "key") as conversations_too:
            assert [(each.event, each.id, each.data) for each in conversations_too.watch_chat(BOT)] == events
        assert events == [("turn", "7", {"n": 1}), ("message", None, {}), ("done", None, {})]

    async def test_one_that_is_left_early_is_closed(self):
        body = b'{"status":"ok"}'
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body
        with answering(whole, hold_open=True) as url, Conversations(url, "key") as conversations:
            for piece in conversations.export_collection(BOT):
                assert piece == body
                break
            transport = conversations._channel._client._transport
            assert isinstance(transport, httpx.HTTPTransport)
            assert transport._pool.connections == []


class TestPages:
    async def test_are_fetched_as_they_are_read(self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots):
        def page(request: httpx.Request) -> httpx.Response:
            cursor = request.url.params.get("cursor")
            assert request.url.params["limit"] == "2"
            return httpx.Response(200, json={"items": [], "next_cursor": None if cursor == "b" else "b"})

        route = wire.get("/v1/bots").mock(side_effect=page)
        listed = bots.list_bots(page_size=2)
        assert route.call_count == 0
        assert (await listed.page()).next_cursor == "b"
        assert route.call_count == 1
        assert [bot async for bot in listed] == []
        assert route.call_count == 3
        assert list(blocking_bots.list_bots(page_size=2)) == []
        assert blocking_bots.list_bots(page_size=2, cursor="b").page().next_cursor is None
        assert route.call_count == 6


class TestUploads:
    async def test_a_file_goes_over_piece_by_piece(self, tmp_path: Path, wire: respx.Router):
        file = tmp_path / "export.jsonl"
        file.write_bytes(b"x" * 600_000)
        imported = {"stored": 0, "already_there": 0, "rejected": 0}
        route = wire.post(f"/v1/collections/{BOT}/uploads").mock(return_value=httpx.Response(409, json=imported))
        async with AsyncConversations(BASE, "key") as conversations:
            with pytest.raises(Conflict):
                await conversations.upload_export(BOT, file)
        with Conversations(BASE, "key") as conversations_too, pytest.raises(Conflict):
            conversations_too.upload_export(BOT, file)
        for call in route.calls:
            assert call.request.content == file.read_bytes()
            assert call.request.headers["content-type"] == "application/octet-stream"
            assert call.request.headers["transfer-encoding"] == "chunked"
