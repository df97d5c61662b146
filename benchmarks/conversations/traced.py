"""What traces cost a collection: none recorded, a tenth of them, and all."""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from unittest.mock import patch

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.running import Collected, running_suite
from tests.factories.processes import Installation, prepared_installation

CONVERSATIONS, EXCHANGES, BOTS = 1200, 5, 4
SHARES = ("1", "0.1")
_WARM = 120
_TURN = "commit turn"
TOY = {"CONVERSATIONS": 12, "EXCHANGES": 1, "SHARES": ("1",), "_WARM": 6}


def measure() -> Iterator[Measurement]:
    """Measure the same collection with and without traces, on one database."""
    with lean_bots() as (url,), prepared_installation() as installation:
        plain = asyncio.run(_collect(installation, url))
        for share in SHARES:
            yield _measure_share(installation, url, share, plain)


def _measure_share(installation: Installation, url: str, share: str, plain: Collected) -> Measurement:
    with _collector() as (endpoint, names):
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_TRACES_SAMPLER_ARG": share}
        with patch.dict(os.environ, settings):
            ours = asyncio.run(_collect(installation, url))
    turns = ours.turns + _WARM * 2 * EXCHANGES
    return Measurement(
        work=f"{ours.conversations:,} conversations of {2 * EXCHANGES} turns, {float(share):.0%} of traces recorded",
        ours=f"{ours.turns_per_second:,.0f} turns/s; {ours.costs()}; {names.total():,} spans came, of turns "
        f"{names[_TURN]:,} of {turns * float(share):,.0f}",
        compared=f"none recorded: {plain.turns_per_second:,.0f} turns/s, {plain.cpu_ms:.2f} ms",
        result=f"{ours.turns_per_second / plain.turns_per_second:.2f}x, processor {ours.cpu_ms / plain.cpu_ms:.2f}x",
    )


async def _collect(installation: Installation, url: str) -> Collected:
    async with running_suite(installation) as suite:
        bots = await suite.bots(url, BOTS)
        await suite.collect(bots, conversations=_WARM, exchanges=EXCHANGES)
        await suite.settle()
        return await suite.collect(bots, conversations=CONVERSATIONS, exchanges=EXCHANGES)


@contextmanager
def _collector() -> Iterator[tuple[str, Counter[str]]]:
    """Run what takes spans in a process of its own; the names of those that came are counted when the block ends."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_take_spans, args=(theirs,))
    process.start()
    names: Counter[str] = Counter()
    try:
        yield f"http://127.0.0.1:{ours.recv()}", names
        ours.send("stop")
        names.update(ours.recv())
    finally:
        process.terminate()
        process.join()


def _take_spans(connection: Connection) -> None:
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.timeout = 0.1
    connection.send(server.server_address[1])
    while not connection.poll(0):
        server.handle_request()
    connection.recv()
    names: Counter[str] = Counter()
    for each in map(ExportTraceServiceRequest.FromString, received):
        names.update(span.name for one in each.resource_spans for scope in one.scope_spans for span in scope.spans)
    connection.send(names)
