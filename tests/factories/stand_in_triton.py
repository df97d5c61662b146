"""A server that speaks as much of Triton's gRPC as `bots` uses, and runs no model."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

_REPLY = b'{"text": "Hello."}'


@dataclass
class StandInTriton(service_pb2_grpc.GRPCInferenceServiceServicer):  # type: ignore[misc] # generated, without types
    """Loads any model by its name, in `load_seconds`; each answers every request alike."""

    address: str = ""
    loaded: set[str] = field(default_factory=set)
    loads: int = 0
    load_seconds: float = 0.0

    async def RepositoryModelLoad(self, request, _context):  # noqa: N802 - gRPC's names
        self.loads += 1
        await asyncio.sleep(self.load_seconds)
        self.loaded.add(request.model_name)
        return service_pb2.RepositoryModelLoadResponse()

    async def RepositoryModelUnload(self, request, _context):  # noqa: N802
        self.loaded.discard(request.model_name)
        return service_pb2.RepositoryModelUnloadResponse()

    async def ModelReady(self, request, _context):  # noqa: N802
        return service_pb2.ModelReadyResponse(ready=request.name in self.loaded)

    async def ModelStatistics(self, request, _context):  # noqa: N802
        statistics = service_pb2.ModelStatistics(name=request.name)
        return service_pb2.ModelStatisticsResponse(model_stats=[statistics])

    async def ModelInfer(self, request, _context):  # noqa: N802
        output = service_pb2.ModelInferResponse.InferOutputTensor(name="reply", datatype="BYTES", shape=[1, 1])
        content = struct.pack("<I", len(_REPLY)) + _REPLY
        return service_pb2.ModelInferResponse(
            model_name=request.model_name, outputs=[output], raw_output_contents=[content]
        )


@asynccontextmanager
async def stand_in_triton() -> AsyncIterator[StandInTriton]:
    """Serve one on a free port of the loopback address."""
    triton, server = StandInTriton(), grpc.aio.server()
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(triton, server)
    triton.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    yield triton
    await server.stop(None)
