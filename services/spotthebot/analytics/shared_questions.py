"""Equal questions to another service that are asked at the same time, of which few are sent."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")


class SharedQuestions(Generic[_Key, _Answer]):
    """One question of a key at a time; who asks while it is under way waits, with all others, for the next one.

    So every answer is of a moment after it was asked for: who wrote something finds it, and nothing is kept.
    """

    def __init__(self) -> None:
        self._underway: dict[_Key, asyncio.Task[_Answer]] = {}
        self._next: dict[_Key, asyncio.Task[_Answer]] = {}

    async def get(self, key: _Key, ask: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Return the answer to a question that is asked from now on; raises what `ask` does."""
        if key not in self._next:
            self._next[key] = asyncio.create_task(self._ask(key, ask))
        # Others wait for the same answer when one of them gives up.
        return await asyncio.shield(self._next[key])

    async def _ask(self, key: _Key, ask: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        if before := self._underway.get(key):
            await asyncio.wait({before})
        self._underway[key] = self._next.pop(key)
        try:
            return await ask()
        finally:
            del self._underway[key]
