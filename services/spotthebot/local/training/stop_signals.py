"""Takes SIGINT and SIGTERM as requests to stop after the present step."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether SIGINT or SIGTERM has arrived; a second signal has its usual effect.

    Outside the main thread no handler can be set, and the function returns False.
    """
    is_requested = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, _frame: FrameType | None) -> None:
        nonlocal is_requested
        is_requested = True
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, note)
    try:
        yield lambda: is_requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
