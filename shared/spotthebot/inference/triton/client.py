"""A client of Triton over gRPC: requests and results are JSON texts, failures are TritonRefused.

The first call imports gRPC and numpy, which takes 0.15 s: few services need them.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from spotthebot.inference.errors import TritonRefused
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.kit.text.characters import without_paths

if TYPE_CHECKING:
    from tritonclient.grpc.aio import InferenceServerClient

CONTROL_SECONDS = 300.0
"""The time limit for loading or unloading a model, and for its first inference."""
_STATE_SECONDS = 10.0
_CHANNEL = [("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", 4 * 1024 * 1024)]


class TritonClient:
    """A channel to one server at `host:port`. The first call opens it; `close` closes it."""

    def __init__(self, address: str, *, tls: bool = False, name: str | None = None) -> None:
        self._address = address
        self._tls = tls
        self._options = [*_CHANNEL, *([("grpc.ssl_target_name_override", name)] if name and tls else [])]
        self._client: InferenceServerClient | None = None

    async def infer(self, model: str, request: str, *, timeout_seconds: float | None = None) -> str:
        """Return a model's result for one request. If the call is cancelled, the server's work is cancelled.

        Raises TritonRefused.
        """
        import numpy as np  # noqa: PLC0415 - see the module
        from tritonclient.grpc.aio import InferInput  # noqa: PLC0415

        tensor = InferInput("request", [1, 1], "BYTES")
        tensor.set_data_from_numpy(np.array([[request.encode()]], dtype=np.object_))
        result = await self._call("infer", model, [tensor], client_timeout=timeout_seconds)
        output = result.as_numpy("reply")
        if output is None or output.size != 1:
            raise TritonRefused(status="OK", reason=f"the model '{model}' has no output 'reply' with one element")
        return str(output.reshape(-1)[0].decode("utf-8", "replace"))

    async def load(self, model: str) -> None:
        """Load a model from the server's repository; raises TritonRefused."""
        await self._call("load_model", model, client_timeout=CONTROL_SECONDS)

    async def unload(self, model: str) -> None:
        """Unload a model; raises TritonRefused."""
        await self._call("unload_model", model, client_timeout=CONTROL_SECONDS)

    async def is_ready(self, model: str) -> bool:
        return bool(await self._call("is_model_ready", model, client_timeout=_STATE_SECONDS))

    async def repository(self) -> dict[str, str]:
        index = await self._call("get_model_repository_index", as_json=True, client_timeout=_STATE_SECONDS)
        return {each["name"]: each.get("state") or each.get("reason", "UNLOADED") for each in index.get("models", [])}

    async def statistics(self, model: str) -> BatchStatistics | None:
        if not await self.is_ready(model):
            return None
        answer = await self._call("get_inference_statistics", model, as_json=True, client_timeout=_STATE_SECONDS)
        statistics = answer["model_stats"][0]
        times = statistics.get("inference_stats", {})
        requests, batches = int(statistics.get("inference_count", 0)), int(statistics.get("execution_count", 0))
        queued = _count(times, "queue")
        return BatchStatistics(
            requests=requests,
            batches=batches,
            failures=_count(times, "fail"),
            mean_batch_size=requests / batches if batches else None,
            mean_queue_ms=_milliseconds(times, "queue") / queued if queued else None,
            mean_compute_ms=_milliseconds(times, "compute_infer") / queued if queued else None,
            waiting=None,
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _call(self, method: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the client's own types
        from tritonclient.grpc.aio import InferenceServerClient  # noqa: PLC0415 - see the module
        from tritonclient.utils import InferenceServerException  # noqa: PLC0415

        if self._client is None:
            self._client = InferenceServerClient(self._address, ssl=self._tls, channel_args=self._options)
        try:
            return await getattr(self._client, method)(*arguments, **options)
        except InferenceServerException as error:
            status = str(error.status() or "").removeprefix("StatusCode.") or "nothing"
            raise TritonRefused(status=status, reason=without_paths(str(error.message()))) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise TritonRefused(status="UNAVAILABLE", reason="the call was cancelled") from None  # by a dying channel


def _count(times: dict[str, Any], name: str) -> int:
    return int(times.get(name, {}).get("count", 0))


def _milliseconds(times: dict[str, Any], name: str) -> float:
    return float(times.get(name, {}).get("ns", 0)) / 1e6
