"""Questions to the person at the terminal, asked while services run on the same event loop."""

import asyncio
import sys

from spotthebot.local.progress import screen


def is_interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def confirmed(question: str) -> bool:
    """Ask, and return whether the answer is yes; anything else, and the end of the input, is no."""
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
