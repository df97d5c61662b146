"""The suite's own Triton: loading and unloading models, and bringing back one whose Python process died.

Triton calls a model ready whose Python stub was killed, so nothing but a real inference counts here.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from spotthebot.bots.domain.errors import HostFailed
from spotthebot.bots.hosting.triton_wire import GrpcTriton
from spotthebot.contracts.bots import BatchStatistics
from spotthebot.kit.logs import get_logger

_RECOVERY_PAUSE_SECONDS = 2.0
PROBE: Mapping[str, Any] = {"turns": ["Hello!"], "max_new_tokens": 1, "temperature": 0.0}
"""The real inference that tells whether a model answers."""
_log = get_logger(__name__)


class TritonHost:
    """Administration of one Triton server in explicit model control."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.wire = GrpcTriton(address)
        self._recovering: dict[str, asyncio.Lock] = {}
        self._recovered_at: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.wire.close()

    async def load(self, name: str) -> None:
        """Load a model of the repository and see it answer; raises HostFailed."""
        await self._administer("load_model", name)
        if reason := await self.why_broken(name):
            raise HostFailed(host=f"Triton, asked to load '{name}',", reason=reason)

    async def unload(self, name: str) -> None:
        """Unload a model; one that is not loaded stays so."""
        await self._administer("unload_model", name)

    async def why_broken(self, name: str) -> str | None:
        """Ask for a real reply and say why there is none; None where there is one."""
        try:
            answer: dict[str, str] = json.loads(await self.wire.infer(name, json.dumps(PROBE)))
        except (HostFailed, ValueError) as error:
            return str(error)
        return answer.get("error")

    async def is_loaded(self, name: str) -> bool:
        """Whether the server calls the model ready, which is not to say that it answers."""
        return await self.wire.is_ready(name)

    async def recover(self, name: str) -> bool:
        """Unload and load a model that stopped answering; many who ask at once make it happen once."""
        asked_at = time.monotonic()
        async with self._recovering.setdefault(name, asyncio.Lock()):
            if self._recovered_at.get(name, -_RECOVERY_PAUSE_SECONDS) > asked_at:
                return True
            if time.monotonic() - self._recovered_at.get(name, float("-inf")) < _RECOVERY_PAUSE_SECONDS:
                return False
            try:
                await self.unload(name)
                await self.load(name)
            except HostFailed as error:
                _log.warning("triton.recovery_failed", model=name, error=error.detail)
                return False
            self._recovered_at[name] = time.monotonic()
            _log.info("triton.recovered", model=name)
            return True

    async def repository(self) -> dict[str, str]:
        """Return the state of each model in the server's repository, by name: READY, or why not."""
        return await self.wire.repository()

    async def statistics(self, name: str) -> BatchStatistics | None:
        """Return what the server counted; None where the model is not loaded."""
        return await self.wire.statistics(name)

    async def _administer(self, method: str, name: str) -> None:
        try:
            await self.wire.administer(method, name)
        except HostFailed as error:
            _log.warning("triton.refused", method=method, model=name, error=error.detail)
            raise
