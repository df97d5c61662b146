"""Speaks with a model on a Triton server by gRPC, or by HTTP if the protocol says so or gRPC does not answer."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from spotthebot.bots.outbound import BotHttp, json_of
from spotthebot.bots.protocols.speaker import Speaker, text_in
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import NO_ANSWER, Fault
from spotthebot.contracts.bots.protocols import Sampling, TritonProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.inference.errors import TritonRefused
from spotthebot.inference.triton.client import TritonClient
from spotthebot.kit.outbound.errors import AddressNotAllowed, UrlNotUsable
from spotthebot.kit.outbound.http import read_json
from spotthebot.kit.outbound.urls import HTTP, read_url

Infer = Callable[[str], Awaitable[str]]
"""A generation request as JSON in, the model's answer as JSON out; raises Fault."""
_UNAVAILABLE = {"UNAVAILABLE", "RESOURCE_EXHAUSTED"}
_GRPC_PORT = 8001
_MODEL_IS_GONE = {ReplyFailure.UNREACHABLE, ReplyFailure.HTTP_ERROR}


class TritonSpeaker(Speaker):
    """Requests replies by `infer`, or by `fallback` if the server is unreachable.

    `recover` loads a model of the suite's own server again.
    """

    def __init__(
        self,
        sampling: Sampling,
        infer: Infer,
        *,
        fallback: Infer | None = None,
        recover: Callable[[], Awaitable[bool]] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._sampling = sampling
        self._infer = infer
        self._fallback = fallback
        self._recover = recover
        self._close = close

    async def ask(self, context: Context, _key: str) -> ReplyOut:
        request = json.dumps(generation_request(context, self._sampling), ensure_ascii=False)
        try:
            return ReplyOut.said(_text(await self._infer_somehow(request)))
        except Fault as fault:
            if fault.failure not in _MODEL_IS_GONE or self._recover is None:
                raise
            said = (
                "The model was loaded again." if await self._recover() else "The model can't be loaded at the moment."
            )
            raise Fault(ReplyFailure.UNREACHABLE, f"{fault.detail} {said}", transient=True) from fault

    async def _infer_somehow(self, request: str) -> str:
        try:
            return await self._infer(request)
        except Fault as fault:
            if fault.failure is not ReplyFailure.UNREACHABLE or self._fallback is None:
                raise
            return await self._fallback(request)

    async def close(self) -> None:
        if self._close is not None:
            await self._close()


def over_grpc(client: TritonClient, model: str) -> Infer:
    """Return the function that asks a server through an open channel."""

    async def infer(request: str) -> str:
        try:
            return await client.infer(model, request)
        except TritonRefused as error:
            if error.status in _UNAVAILABLE:
                raise Fault(ReplyFailure.UNREACHABLE, error.detail, transient=True) from error
            raise Fault(ReplyFailure.HTTP_ERROR, error.detail) from error

    return infer


class CheckedGrpc:
    """Calls a team's server. It checks the address when it makes the channel, which then keeps this address."""

    def __init__(self, protocol: TritonProtocol, http: BotHttp) -> None:
        self._url = protocol.url or ""
        self._model = protocol.model
        self._http = http
        self._client: TritonClient | None = None

    async def infer(self, request: str) -> str:
        if self._client is None:
            self._client = await self._connected()
        try:
            return await over_grpc(self._client, self._model)(request)
        except Fault as fault:
            if fault.failure is ReplyFailure.UNREACHABLE:
                raise self._unreachable(fault.detail) from fault
            raise

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _connected(self) -> TritonClient:
        """Return a client for an IP address, which is written so that gRPC can't resolve or reinterpret it."""
        try:
            url = read_url(self._url, HTTP, default_port=_GRPC_PORT)
            address, *_ = await self._http.resolver.addresses_of(url.host, url.port)
        except (AddressNotAllowed, UrlNotUsable) as error:
            raise Fault(ReplyFailure.UNREACHABLE, error.detail) from error
        except OSError as error:
            unknown = self._unreachable(f"Its name is not known: {error}.")
            raise unknown from error
        target = f"ipv6:[{address}]:{url.port}" if ":" in address else f"ipv4:{address}:{url.port}"
        return TritonClient(target, tls=url.is_tls, name=url.host)

    def _unreachable(self, cause: str) -> Fault:
        return Fault(ReplyFailure.UNREACHABLE, cause if self._http.names_causes else NO_ANSWER, transient=True)


def over_http(base_url: str, model: str, http: BotHttp) -> Infer:
    """Return the function that asks by the KServe v2 protocol, with the text inside the JSON."""
    url = f"{base_url.rstrip('/')}/v2/models/{model}/infer"

    async def infer(request: str) -> str:
        asked = {"inputs": [{"name": "request", "shape": [1, 1], "datatype": "BYTES", "data": [request]}]}
        headers = {"Content-Type": "application/json"}
        answer = json_of(await http.post(url, json.dumps(asked).encode(), headers))
        try:
            return str(next(each["data"][0] for each in answer["outputs"] if each["name"] == "reply"))
        except (LookupError, TypeError, StopIteration) as error:
            raise Fault(ReplyFailure.INVALID, "The model has no output 'reply' with one element.") from error

    return infer


def generation_request(context: Context, sampling: Sampling) -> dict[str, Any]:
    """Return a request to one of our dialogue models."""
    asked = {"turns": list(context.turns), "persona": context.persona, "seed": context.seed}
    other = {} if context.temperature is None else {"temperature": context.temperature}
    return asked | sampling.model_dump() | other


def _text(answer: str) -> str:
    try:
        said = read_json(answer)
    except ValueError:
        said = None
    if isinstance(said, dict) and "error" in said:
        raise Fault(ReplyFailure.INVALID, f"The model refused: {said['error']}")
    text = text_in(said)
    if text is None:
        raise Fault(ReplyFailure.INVALID, 'The model\'s reply is not JSON of the form {"text": ...}.')
    return text
