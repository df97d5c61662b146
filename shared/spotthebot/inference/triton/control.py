"""Control of the models on a Triton server of ours: loads, unloads, and revives a model whose process died.

Triton reports a model as ready even if its Python process was killed. So a model counts as working only if it answers a
request.
"""

import json
from collections.abc import Awaitable, Mapping
from types import TracebackType
from typing import Any, Self

from cachetools import TTLCache

from spotthebot.inference.errors import HostFailed
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.triton.client import CONTROL_SECONDS, TritonClient
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.text.characters import without_paths
from spotthebot.kit.waits.memo import Memo

_RECOVERY_PAUSE_SECONDS = 2.0
_MAX_MODELS = 1024
_log = get_logger(__name__)


class TritonControl:
    """One Triton server in explicit model control. `probe` is a request that each of its models can answer."""

    def __init__(self, address: str, *, probe: Mapping[str, Any]) -> None:
        self.address = address
        self.client = TritonClient(address)
        self._probe = json.dumps(probe)
        self._recovering = Memo[str, bool](seconds=0)
        self._recovered: TTLCache[str, None] = TTLCache(_MAX_MODELS, _RECOVERY_PAUSE_SECONDS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._recovering.cancel()
        await self.client.close()

    async def load(self, name: str) -> None:
        """Load a model from the repository and test it with the probe; raises HostFailed."""
        await self._logged(self.client.load(name), "load", name)
        if reason := await self.why_broken(name):
            raise HostFailed(host=f"Triton, asked to load '{name}',", reason=without_paths(reason))

    async def unload(self, name: str) -> None:
        """Unload a model, if it is loaded."""
        await self._logged(self.client.unload(name), "unload", name)

    async def why_broken(self, name: str) -> str | None:
        """Send the probe to a model. Return the reason why there is no result; None if there is one."""
        try:
            text = await self.client.infer(name, self._probe, timeout_seconds=CONTROL_SECONDS)
            answer: dict[str, str] = json.loads(text)
        except (HostFailed, ValueError) as error:
            return str(error)
        return answer.get("error")

    async def is_loaded(self, name: str) -> bool:
        """Return whether the server reports the model as ready; `why_broken` tests whether it answers."""
        return await self.client.is_ready(name)

    async def recover(self, name: str) -> bool:
        """Unload and load a model that stopped answering. Return whether it answers again.

        Several callers at the same time share one attempt. A caller that times out does not cancel it: loading may take
        longer than any caller waits.
        """
        if name not in self._recovering and name in self._recovered:
            return False
        return await self._recovering.get(name, lambda: self._reload(name))

    async def _reload(self, name: str) -> bool:
        try:
            await self.unload(name)
            await self.load(name)
        except HostFailed as error:
            _log.warning("triton.recovery_failed", model=name, error=error.detail)
            return False
        self._recovered[name] = None
        _log.info("triton.recovered", model=name)
        return True

    async def repository(self) -> dict[str, str]:
        """Return the state of each model in the server's repository, by name: READY, or the reason why it is not."""
        return await self.client.repository()

    async def statistics(self, name: str) -> BatchStatistics | None:
        """Return the server's counts of a model; None if it is not loaded."""
        return await self.client.statistics(name)

    async def _logged(self, call: Awaitable[None], action: str, name: str) -> None:
        try:
            await call
        except HostFailed as error:
            _log.warning("triton.refused", action=action, model=name, error=error.detail)
            raise
