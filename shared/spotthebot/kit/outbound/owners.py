"""HTTP by owner: what a team's URL may name, and what the operator's may."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.http import GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver


class HttpByOwner:
    """Two clients that share no connection: for URLs of teams, and for those of the operator.

    Everybody's URLs may be on the public internet and in the `allowed` networks, the operator's in its own as well.
    """

    def __init__(self, *, allowed: Sequence[str], operator: Sequence[str]) -> None:
        self._for_teams = GuardedHttp(CheckingResolver(networks(allowed)))
        self._for_operator = GuardedHttp(CheckingResolver(networks([*allowed, *operator])))
        self._stack = AsyncExitStack()

    def of(self, team: str | None) -> GuardedHttp:
        """Return the client for a team's URL, or for the operator's if there is no team."""
        return self._for_operator if team is None else self._for_teams

    async def __aenter__(self) -> Self:
        for http in (self._for_teams, self._for_operator):
            await self._stack.enter_async_context(http)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()
