"""Makes a child process end when its parent ends.

A supervisor that is killed with SIGKILL cannot end its children. On Linux the kernel can do it: a process may ask for a
signal when its parent ends (prctl(2), PR_SET_PDEATHSIG). Other systems have no such request: a child that is left
behind has to be found by its pid file or its port.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """Return a `preexec_fn` for a child. The kernel then sends the child `death_signal` when the calling process ends.

    The kernel drops this request when the child changes its user. So the request must come after the change; subprocess
    calls `preexec_fn` last. The kernel also treats the end of the *thread* that forked as the end of the parent. So
    this function returns None outside the main thread: the end of a worker thread must not end a database.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    # Loaded before the fork: between fork and exec the child may do nothing that could wait for a lock.
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask_the_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the kernel was asked
            os._exit(1)

    return ask_the_kernel
