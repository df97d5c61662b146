"""What is done with the services' warnings of a collection's bots before it starts."""

from collections.abc import Awaitable, Callable, Sequence

from spotthebot.contracts.conversations.collections import BotWarningOut
from spotthebot.local.progress import say

Approve = Callable[[Sequence[BotWarningOut]], Awaitable[None]]
"""Takes the warnings before a collection starts; raises where it must not."""


async def print_warnings(warnings: Sequence[BotWarningOut]) -> None:
    """Print each warning, and let the collection start."""
    for each in warnings:
        say(f"Warning: {each.detail}")
