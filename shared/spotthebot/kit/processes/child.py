"""A child process, from its start to its last line of output."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Self

import httpx

from spotthebot.kit.processes.errors import ServiceDidNotStart
from spotthebot.kit.processes.forks import Fork
from spotthebot.kit.processes.log_file import LogFile
from spotthebot.kit.processes.process import Process, signal_group
from spotthebot.kit.processes.spec import OnLine, ProcessSpec

_LAST_LINES = 20
_LONGEST_LINE = 65_536
_POLL_SECONDS = 0.05
_SETTLE_SECONDS = 0.5
_DRAIN_SECONDS = 1.0


class Child:
    """A running process in a session of its own. Each line of its output is passed to `on_line`.

    Signals go to the whole process group of the process, so its own children end with it.
    """

    def __init__(
        self,
        spec: ProcessSpec,
        on_line: OnLine,
        process: Process | Fork,
        output: asyncio.StreamReader,
        pipe: asyncio.ReadTransport,
        log: LogFile,
    ) -> None:
        self._spec = spec
        self._on_line = on_line
        self._process = process
        self._pipe = pipe
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._said_ready = asyncio.Event()
        self._answer: httpx.Response | None = None
        self._reading = asyncio.create_task(self._write_down(output, log))
        self._ended = asyncio.create_task(self._see_it_end())

    @classmethod
    async def launch(cls, spec: ProcessSpec, on_line: OnLine) -> Self:
        """Start the process without waiting for its health; raises ServiceDidNotStart if it cannot run."""
        with _failing_as(spec):
            log = LogFile(spec.log_file)
        output = asyncio.StreamReader()
        read_end, write_end = os.pipe()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            with _failing_as(spec):
                process = await _start(spec, write_end)
        except BaseException:
            pipe.close()
            log.close()
            raise
        finally:
            os.close(write_end)
        return cls(spec, on_line, process, output, pipe, log)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def wait(self) -> int:
        """Wait until the process has ended and its output is read; return its exit code."""
        return await asyncio.shield(self._ended)

    async def wait_until_ready(self, client: httpx.AsyncClient) -> None:
        """Wait until the process is healthy; raises ServiceDidNotStart if the process ends before."""
        ready = asyncio.create_task(self._become_ready(client))
        try:
            timeout = self._spec.start_timeout_seconds
            await asyncio.wait({ready, self._ended}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                reason = f"it ended with status {self._ended.result()}"
            elif ready.done():
                return await ready
            else:
                reason = f"it is not ready after {timeout:g} s{self._said_by_probe()}"
                self.kill()
            exit_code = await self.wait()
        finally:
            ready.cancel()
        raise ServiceDidNotStart(
            name=self._spec.name, reason=reason, exit_code=exit_code, lines="\n".join(self._last_lines)
        )

    async def stop(self) -> int:
        """End the process with SIGTERM. Send SIGKILL after its stop timeout, or when this call is cancelled."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(self._spec.stop_timeout_seconds):
                return await self.wait()
        except TimeoutError:
            self.kill()
            return await self.wait()
        except asyncio.CancelledError:
            self.kill()
            raise

    def kill(self) -> None:
        """End the process and its children at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if not self._ended.done():
            signal_group(self.pid, number)

    async def _see_it_end(self) -> int:
        exit_code = await self._process.wait()
        # Children that the process leaves behind would hold its port and its output.
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        await asyncio.wait({self._reading}, timeout=_DRAIN_SECONDS)
        self._reading.cancel()
        self._pipe.close()
        return exit_code

    async def _write_down(self, output: asyncio.StreamReader, log: LogFile) -> None:
        with closing(log):
            async for raw in _lines(output):
                log.write(raw)
                line = raw.decode(errors="replace")
                self._last_lines.append(line)
                if self._spec.ready_line and self._spec.ready_line in line:
                    self._said_ready.set()
                self._on_line(self._spec.name, line)

    async def _become_ready(self, client: httpx.AsyncClient) -> None:
        if self._spec.ready_line:
            await self._said_ready.wait()
        if self._spec.ready_url:
            await self._probe(client, self._spec.ready_url)
        if not (self._spec.ready_line or self._spec.ready_url):
            await asyncio.sleep(_SETTLE_SECONDS)

    async def _probe(self, client: httpx.AsyncClient, url: str) -> None:
        while True:
            with suppress(httpx.HTTPError):
                self._answer = await client.get(url)
                if self._answer.status_code == httpx.codes.OK:
                    return
            await asyncio.sleep(_POLL_SECONDS)

    def _said_by_probe(self) -> str:
        """Return a colon and the reason that the service's readiness probe named; an empty text if it named none."""
        with suppress(ValueError, KeyError, TypeError):
            return f": {self._answer.json()['detail']}".rstrip(".") if self._answer is not None else ""
        return ""


async def _start(spec: ProcessSpec, output: int) -> Process | Fork:
    files = () if spec.listener is None else (spec.listener.fileno(),)
    if spec.fork_needs:
        return await Fork.start(spec.argv, needs=spec.fork_needs, env=spec.env, output=output, inherited=files)
    argv = [*spec.argv, *(argument for file in files for argument in ("--fd", str(file)))]
    return Process(argv, env=spec.env, output=output, inherited=files)


@contextmanager
def _failing_as(spec: ProcessSpec) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{error.filename or spec.argv[0]}: {error.strerror}"
        raise ServiceDidNotStart(name=spec.name, reason=reason, exit_code=None, lines="") from error


async def _lines(output: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield lines without their line ends. A line that is too long is cut; readline would fail."""
    rest = b""
    while chunk := await output.read(_LONGEST_LINE):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
        if len(rest) >= _LONGEST_LINE:
            yield rest
            rest = b""
    if rest:
        yield rest
