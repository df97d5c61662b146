"""One set of processes for all tests here: two workers and two servers of bots; what dies is brought back."""

from collections.abc import AsyncIterator, Iterator

import pytest

from spotthebot.kit.processes import monitor
from spotthebot.kit.waits.backoff import Backoff
from tests.factories.processes import Installation, Processes, prepared_installation, running_processes

# What takes minutes outside, so that the suite bears a restart, takes seconds here.
SETTINGS = {
    "bots": {"RECOVERY_SECONDS": "0.3", "HEARTBEAT_SECONDS": "5"},
    "conversations": {"STALLED_AFTER_SECONDS": "2", "MAINTENANCE_SECONDS": "0.2", "BOT_PATIENCE_SECONDS": "8"},
}
COUNTS = {"bots": 2, "conversations": 1, "conversations-worker": 2}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """A database that keeps what it committed when it is killed."""
    with prepared_installation() as made:
        yield made


@pytest.fixture(scope="module")
async def processes(installation: Installation) -> AsyncIterator[Processes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            monitor, "_BACKOFF", Backoff(first_seconds=0.2, max_seconds=0.4)
        )  # what is killed on purpose is not given up on
        async with running_processes(installation, counts=COUNTS, settings=SETTINGS) as running:
            yield running
