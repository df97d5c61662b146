"""ParlAI's two services: `parlai interactive_web` over HTTP, and its chat service over a websocket.

Both keep a history. So each question first clears it and then sends all turns as one text, a turn a line. ParlAI's own
tasks have histories in this form.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from aiohttp import ClientWebSocketResponse, WSMsgType

from spotthebot.bots.outbound import BotHttp, json_of
from spotthebot.bots.protocols.openai_answers import fault_inside
from spotthebot.bots.protocols.speaker import Speaker, text_in
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import ParlaiProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.kit.outbound.http import read_json

_COMMANDS = ("[DONE]", "[RESET]", "[EXIT]")
_CLEARED = "[History Cleared]"
_WORLD_CLOSED = "Sorry, this world closed"
_SILENCE_SECONDS = 3.0
_SILENT_STARTS = 3
_LEAVING_SECONDS = 2.0


class InteractiveWebSpeaker(Speaker):
    """`interactive_web` has one history for all clients, so it gets one question at a time."""

    def __init__(self, protocol: ParlaiProtocol, http: BotHttp) -> None:
        base = protocol.url.rstrip("/").removesuffix("/interact")
        self._reset, self._interact = f"{base}/reset", f"{base}/interact"
        self._history = protocol.history
        self._http = http
        self._alone = asyncio.Lock()

    async def ask(self, context: Context, _key: str) -> ReplyOut:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        async with self._alone:
            await self._http.post(self._reset, b"", headers)
            answer = await self._http.post(self._interact, shown(context, self._history).encode(), headers)
        return ReplyOut.said(_text(json_of(answer), answer.retry_after_seconds))


class WebsocketChatSpeaker(Speaker):
    """The chat service pairs each socket with a separate agent; sockets are kept for the next question.

    A socket closed without `[EXIT]` occupies one of the service's threads for good. So this class says farewell on a
    socket before it closes the socket. Because of a race, ParlAI sometimes does not answer the start of a conversation.
    So this class greets on a new socket if there is no answer.
    """

    def __init__(self, protocol: ParlaiProtocol, http: BotHttp) -> None:
        parts = urlsplit(protocol.url)
        path = parts.path if parts.path.strip("/") else "/websocket"
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        self._url = parts._replace(scheme=scheme, path=path).geturl()
        self._history = protocol.history
        self._http = http
        self._idle: list[ClientWebSocketResponse] = []
        self._leaving: set[asyncio.Task[None]] = set()

    async def ask(self, context: Context, _key: str) -> ReplyOut:
        async with self._paired() as socket:
            await _drain(socket)
            await _say(socket, "[RESET]")
            while _CLEARED not in await _hear(socket):
                pass  # an answer to an earlier client, or a repeated one
            await _say(socket, shown(context, self._history))
            return ReplyOut.said(await _hear(socket))

    async def close(self) -> None:
        """Send a farewell on all kept sockets."""
        leaving, self._idle = self._idle, []
        await asyncio.gather(*map(_leave, leaving), *self._leaving)

    @asynccontextmanager
    async def _paired(self) -> AsyncIterator[ClientWebSocketResponse]:
        socket = self._idle.pop() if self._idle else await self._pair()
        try:
            yield socket
        except BaseException:
            leaving = asyncio.create_task(_leave(socket))  # this takes seconds, which the question no longer has
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            raise
        self._idle.append(socket)

    async def _pair(self) -> ClientWebSocketResponse:
        for _ in range(_SILENT_STARTS):
            socket = await self._http.open_socket(self._url)
            try:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    await _say(socket, "hi")
                    await _hear(socket)
                await _say(socket, "begin")
                await _hear(socket)
            except TimeoutError:
                await socket.close()
            except BaseException:
                await socket.close()
                raise
            else:
                return socket
        detail = "The chat service says nothing after a greeting."
        raise Fault(ReplyFailure.UNREACHABLE, detail, transient=True)


def shown(context: Context, history: Literal["all_turns", "last_turn"]) -> str:
    """Return the text for the agent: one turn per line, without words that the chat service would take for commands."""
    turns = context.turns if history == "all_turns" else context.turns[-1:]
    lines = (context.persona or "").split("\n") if history == "all_turns" else []
    persona = [f"your persona: {line}" for line in lines if line.strip()]
    text = "\n".join(" ".join(each.split()) for each in (*persona, *turns))
    for command in _COMMANDS:
        text = text.replace(command, f"({command[1:-1]})")
    return text


async def _say(socket: ClientWebSocketResponse, text: str) -> None:
    try:
        await socket.send_str(json.dumps({"text": text}))
    except (ConnectionError, RuntimeError) as error:
        raise _lost() from error


async def _hear(socket: ClientWebSocketResponse) -> str:
    frame = await socket.receive()
    if frame.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED}:
        raise _lost()
    if frame.type is WSMsgType.ERROR:
        raise Fault(ReplyFailure.TOO_LONG, f"The frame can't be read: {frame.data}.")
    try:
        said = _text(read_json(frame.data))
    except (ValueError, TypeError) as error:
        raise Fault(ReplyFailure.INVALID, f"A frame is not JSON: {error}.") from error
    if said.startswith(_WORLD_CLOSED):
        raise _lost()
    return said


async def _drain(socket: ClientWebSocketResponse) -> None:
    """Drop frames that arrived without a question, because the chat service sends some frames twice."""
    with contextlib.suppress(TimeoutError):
        while True:
            frame = await socket.receive(timeout=0.001)
            if frame.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR}:
                raise _lost()


async def _leave(socket: ClientWebSocketResponse) -> None:
    with contextlib.suppress(Fault, TimeoutError, OSError):
        async with asyncio.timeout(_LEAVING_SECONDS):
            await _say(socket, "[DONE]")
            await _hear(socket)
            await _say(socket, "exit")
            await _hear(socket)
    with contextlib.suppress(OSError):
        await socket.close()


def _lost() -> Fault:
    return Fault(ReplyFailure.UNREACHABLE, "The chat service ended the conversation.", transient=True)


def _text(answer: Any, retry_after_seconds: float | None = None) -> str:  # noqa: ANN401 - JSON
    text = text_in(answer)
    if text is None:
        fault = fault_inside(answer, retry_after_seconds)
        raise fault or Fault(ReplyFailure.INVALID, "The answer is not a message of ParlAI: it has no text.")
    return text
