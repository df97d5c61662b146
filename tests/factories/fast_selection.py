"""A pytest plugin of `./stb test --fast`: files of what changed, then tests that need no database, until time is up."""

import signal
import time
from types import FrameType

import pytest

DATABASE = "cluster"
"""The fixture that every test with a database or a running suite stands on."""
LONG = ("tests/e2e/", "tests/faults/", "tests/local/postgres/", "tests/kit/processes/")
"""Tests that start processes of their own."""

_state = {"left_out": 0, "collected": 0, "done": 0}

_BEGAN = time.monotonic()
"""Collecting the tests takes of the time, too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fast")
    group.addoption("--fast-seconds", type=float, default=50)
    group.addoption("--fast-changed", action="append", default=[])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    changed = set(config.getoption("--fast-changed"))
    first = [item for item in items if _file(item, config) in changed]
    pure = [item for item in items if _file(item, config) not in changed and is_pure(item, _file(item, config))]
    chosen = {*first, *pure}
    left_out = [item for item in items if item not in chosen]
    config.hook.pytest_deselected(items=left_out)
    _state.update(left_out=len(left_out), collected=len(chosen))
    items[:] = [*first, *pure]


def is_pure(item: pytest.Item, file: str) -> bool:
    """Say whether a test runs in this process alone."""
    return DATABASE not in getattr(item, "fixturenames", ()) and not file.startswith(LONG)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    _state["done"] += 1


def pytest_runtestloop(session: pytest.Session) -> None:
    """Set the alarm that ends the test that runs when the time is up."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        pytest.exit("the time is up", returncode=1 if session.testsfailed else 0)

    signal.signal(signal.SIGALRM, stop)
    left = session.config.getoption("--fast-seconds") - (time.monotonic() - _BEGAN)
    signal.setitimer(signal.ITIMER_REAL, max(left, 1e-6))


def pytest_unconfigure() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    late = _state["collected"] - _state["done"]
    left_out = f"{_state['left_out']} tests that need a database or processes"
    terminalreporter.write_line(f"Left out: {left_out}; {late} for which the time was too short.")


def _file(item: pytest.Item, config: pytest.Config) -> str:
    return item.path.relative_to(config.rootpath).as_posix()
