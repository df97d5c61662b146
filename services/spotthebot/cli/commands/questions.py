"""Asks a person questions at the terminal. The event loop, on which services may run, is not blocked."""

import asyncio
import sys

from spotthebot.local.progress import screen


def is_interactive() -> bool:
    """Whether a person is at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def confirmed(question: str) -> bool:
    """Ask a question, and return whether the answer is yes. Any other answer and the end of the input mean no."""
    screen.print(f"{question} [y/N]: ", end="", markup=False, highlight=False)
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        loop.remove_reader(sys.stdin.fileno())
        answered.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        line = await answered
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return line.strip().lower() in {"y", "yes"}
