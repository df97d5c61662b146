"""A child process that does not outlive its parent.

A supervisor that is killed with SIGKILL cannot clean up after itself. On Linux the kernel can do it: a
process may ask to be sent a signal when its parent ends (prctl(2), PR_SET_PDEATHSIG). Elsewhere nothing is
asked for, and a child that was left behind has to be found by its pid file or its port.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """Return a `preexec_fn` after which the child is sent `death_signal` when the calling process ends.

    The kernel forgets the wish when the child changes its user, so it has to be made after that; subprocess
    calls `preexec_fn` last. It also takes the end of the *thread* that forked for the end of the parent:
    off the main thread the answer is None, for a worker thread that ends must not take a database with it.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    # Loaded before the fork: between fork and exec the child may only do what cannot wait for a lock.
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask_the_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the kernel was asked
            os._exit(1)

    return ask_the_kernel
