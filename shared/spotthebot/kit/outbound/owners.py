"""HTTP clients by the owner of a URL: the operator's URLs may name more hosts than the teams' URLs."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.http import GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver


class HttpByOwner:
    """Two clients that share no connection: one for URLs of teams, and one for URLs of the operator.

    All URLs may name the public internet and the `allowed` networks. The operator's URLs may also name the operator's
    own networks.
    """

    def __init__(self, *, allowed: Sequence[str], operator: Sequence[str]) -> None:
        self._for_teams = GuardedHttp(CheckingResolver(networks(allowed)))
        self._for_operator = GuardedHttp(CheckingResolver(networks([*allowed, *operator])))
        self._stack = AsyncExitStack()

    def of(self, team: str | None) -> GuardedHttp:
        """Return the client for URLs of a team; if `team` is None, the client for URLs of the operator."""
        return self._for_operator if team is None else self._for_teams

    async def __aenter__(self) -> Self:
        for http in (self._for_teams, self._for_operator):
            await self._stack.enter_async_context(http)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()
