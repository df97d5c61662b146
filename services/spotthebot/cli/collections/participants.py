"""Handles the services' warnings about the bots of a collection, before the collection starts."""

from collections.abc import Awaitable, Callable, Sequence

from spotthebot.contracts.conversations.collections import BotWarningOut
from spotthebot.local.progress import say

Approve = Callable[[Sequence[BotWarningOut]], Awaitable[None]]
"""A function that gets the warnings before a collection starts. It raises an error if the collection must not start."""


async def print_warnings(warnings: Sequence[BotWarningOut]) -> None:
    """Print each warning. The collection starts regardless of the warnings."""
    for each in warnings:
        say(f"Warning: {each.detail}")
