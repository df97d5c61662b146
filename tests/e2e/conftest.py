"""What tests of whole processes share: ports for a suite, and a Ctrl-C that reaches it."""

import contextlib
import random
import signal
from collections.abc import Iterator

import pytest

from spotthebot.contracts.services import SERVICES
from spotthebot.kit.processes.errors import PortTaken
from spotthebot.kit.processes.sockets import bind


@pytest.fixture(scope="module", autouse=True)
def ctrl_c() -> Iterator[None]:
    """Have child processes take SIGINT as on a terminal.

    A shell makes its background jobs ignore it, and a test run that is one would hand that on to all it starts.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def port_base() -> int:
    """A number that free ports for all services follow, outside the range that the system gives to others.

    It is drawn, so that modules that run at the same time do not find the same ones.
    """
    bases = range(18_100, 32_000, 10)
    for base in random.sample(bases, len(bases)):
        try:
            with contextlib.ExitStack() as stack:
                for number in range(1, len(SERVICES) + 1):
                    stack.enter_context(bind("127.0.0.1", base + number))
        except PortTaken:
            continue
        return base
    pytest.fail("there are no free ports in a row")
