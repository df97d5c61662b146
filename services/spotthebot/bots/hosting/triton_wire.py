"""Triton's gRPC, put in our own terms: requests and replies as JSON texts, failures as HostFailed."""

import asyncio
from typing import Any

import numpy as np
from tritonclient.grpc.aio import InferenceServerClient, InferInput
from tritonclient.utils import InferenceServerException

from spotthebot.bots.domain.errors import HostFailed
from spotthebot.contracts.bots import BatchStatistics

_ADMINISTRATION_SECONDS = 300.0
_CHANNEL = [("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", 4 * 1024 * 1024)]


class TritonRefused(HostFailed):
    """Triton answered {status}: {reason}"""  # noqa: D400 - ends as the server's words do

    @property
    def status(self) -> str:
        return str(self.facts["status"])


class GrpcTriton:
    """One channel to a server at `host:port`; opened by the first call, kept until closed."""

    def __init__(self, address: str, *, tls: bool = False, name: str | None = None) -> None:
        self._address = address
        self._tls = tls
        self._options = [*_CHANNEL, *([("grpc.ssl_target_name_override", name)] if name and tls else [])]
        self._client: InferenceServerClient | None = None

    async def infer(self, model: str, request: str) -> str:
        """Ask a model for one reply; cancelling the call cancels it on the wire. Raises TritonRefused."""
        asked = InferInput("request", [1, 1], "BYTES")
        asked.set_data_from_numpy(np.array([[request.encode()]], dtype=np.object_))
        result = await self._call("infer", model, [asked])
        found = result.as_numpy("reply")
        if found is None or found.size != 1:
            raise TritonRefused(status="OK", reason=f"the model '{model}' has no output named reply of one element")
        return str(found.reshape(-1)[0].decode("utf-8", "replace"))

    async def administer(self, method: str, model: str) -> None:
        """Call `load_model` or `unload_model`; raises TritonRefused."""
        await self._call(method, model, client_timeout=_ADMINISTRATION_SECONDS)

    async def is_ready(self, model: str) -> bool:
        return bool(await self._call("is_model_ready", model))

    async def repository(self) -> dict[str, str]:
        index = await self._call("get_model_repository_index", as_json=True)
        return {each["name"]: each.get("state") or each.get("reason", "UNLOADED") for each in index.get("models", [])}

    async def statistics(self, model: str) -> BatchStatistics | None:
        if not await self.is_ready(model):
            return None
        answer = await self._call("get_inference_statistics", model, as_json=True)
        found = answer["model_stats"][0]
        times = found.get("inference_stats", {})
        replies, batches = int(found.get("inference_count", 0)), int(found.get("execution_count", 0))
        asked = _count(times, "queue")
        return BatchStatistics(
            replies=replies,
            batches=batches,
            failures=_count(times, "fail"),
            mean_batch_size=replies / batches if batches else None,
            mean_queue_ms=_milliseconds(times, "queue") / asked if asked else None,
            mean_compute_ms=_milliseconds(times, "compute_infer") / asked if asked else None,
            waiting=None,
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _call(self, method: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the client's own types
        if self._client is None:
            self._client = InferenceServerClient(self._address, ssl=self._tls, channel_args=self._options)
        try:
            return await getattr(self._client, method)(*arguments, **options)
        except InferenceServerException as error:
            status = str(error.status() or "").removeprefix("StatusCode.") or "nothing"
            raise TritonRefused(status=status, reason=str(error.message())) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise TritonRefused(status="UNAVAILABLE", reason="the call was cancelled") from None  # by a dying channel


def _count(times: dict[str, Any], name: str) -> int:
    return int(times.get(name, {}).get("count", 0))


def _milliseconds(times: dict[str, Any], name: str) -> float:
    return float(times.get(name, {}).get("ns", 0)) / 1e6
