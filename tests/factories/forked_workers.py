"""A pytest plugin: `--workers N` imports and collects the tests once, then runs their files in N forked processes.

Importing and collecting takes a process ten seconds of processor, which workers that start from nothing each spend
again (pytest-xdist's do); forked ones share what their parent has read, and its memory. A file's tests run in one
worker, in the parent's order. A worker that dies fails the test that it ran; another goes on behind it.
"""

import gc
import os
import random
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from tempfile import TemporaryFile
from typing import Any, Final

import pytest
from _pytest.capture import FDCapture
from _pytest.runner import SetupState
from _pytest.tmpdir import TempPathFactory

_FORK: Final = get_context("fork")
_SECONDS_TO_STOP: Final = 30


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workers")
    group.addoption("--workers", type=int, default=1, help="Processes that share the test files; 1 forks none.")


class Hooks:
    """What a conftest may add."""

    def pytest_before_fork(self, session: pytest.Session) -> None:
        """Prepare in the parent, once, what workers share."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in workers; the usual loop does where one process is enough."""
    config = session.config
    workers = config.getoption("--workers")
    no_tests = session.testsfailed and not config.option.continue_on_collection_errors
    if workers == 1 or config.option.collectonly or no_tests:
        return None
    config.hook.pytest_before_fork(session=session)
    gc.freeze()
    Dispatcher(session).run(workers)
    return True


@dataclass
class Worker:
    """A forked process, the tests that it has yet to finish, and the parent's end of the pipe to it."""

    process: BaseProcess
    connection: Connection
    assigned: deque[int] = field(default_factory=deque)
    stopped: bool = False

    def give(self, file: list[int]) -> None:
        """Answer with the numbers of a file's tests, or with none: there are no more."""
        if not self.stopped:
            with suppress(BrokenPipeError):  # it died, which the next message of it says
                self.connection.send(file)

    def stop(self) -> None:
        """Let it finish the test that it has begun, and no other."""
        self.give([])
        self.stopped = True


class Dispatcher:
    """Hands out test files to workers, and what workers report to the plugins of this process."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._hook = session.config.hook
        numbered = groupby(range(len(session.items)), key=lambda number: session.items[number].path)
        self._files = deque(list(numbers) for _, numbers in numbered)
        self._workers: dict[Connection, Worker] = {}

    def run(self, count: int) -> None:
        """Run all files in `count` workers, and wait for them; raises what ends a session (`-x`, Ctrl-C)."""
        _temporary_folders(self._session.config).getbasetemp()
        try:
            for _ in range(min(count, len(self._files))):
                self._fork()
            while self._workers:
                for connection in wait(list(self._workers)):
                    self._receive(self._workers[connection])  # type: ignore[index] # these are all connections
                    self._stop_where_asked()
            if self._session.shouldfail:
                raise self._session.Failed(self._session.shouldfail)
            if self._session.shouldstop:
                raise self._session.Interrupted(self._session.shouldstop)
        finally:
            deadline = time.monotonic() + _SECONDS_TO_STOP
            for worker in self._workers.values():
                worker.connection.close()
                worker.process.join(max(deadline - time.monotonic(), 0))
                worker.process.kill()

    def _fork(self) -> None:
        ours, theirs = _FORK.Pipe()
        process = _FORK.Process(target=_run_worker, args=(self._session, theirs, [*self._workers, ours]))
        with warnings.catch_warnings():  # of threads: libraries' own, which survive a fork
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self._workers[ours] = Worker(process, ours)

    def _receive(self, worker: Worker) -> None:
        try:
            kind, *content = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self._end(worker)
            return
        if kind == "next":
            worker.assigned.extend(file := self._files.popleft() if self._files else [])
            worker.give(file)
        elif kind == "report":
            report = self._hook.pytest_report_from_serializable(config=self._session.config, data=content[0])
            self._hook.pytest_runtest_logreport(report=report)
        else:
            self._finish(worker.assigned.popleft())

    def _stop_where_asked(self) -> None:
        if self._session.shouldfail or self._session.shouldstop:
            for worker in self._workers.values():
                worker.stop()

    def _finish(self, number: int) -> None:
        item = self._session.items[number]
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, worker: Worker) -> None:
        """Take leave of a worker; where it died, fail the test that it ran and give the others to a new one."""
        del self._workers[worker.connection]
        worker.connection.close()
        worker.process.join()
        if worker.assigned and not worker.stopped:
            died = worker.assigned.popleft()
            self._hook.pytest_runtest_logreport(report=_death(self._session.items[died], worker.process.exitcode))
            self._finish(died)
            if worker.assigned:
                self._files.appendleft(list(worker.assigned))
            if self._files:
                self._fork()
        elif worker.process.exitcode:
            self._session.shouldfail = f"a worker ended with exit code {worker.process.exitcode}"


def _death(item: pytest.Item, exit_code: int | None) -> pytest.TestReport:
    words = f"The process died while it ran this test (exit code {exit_code})."
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", words, "call")


def _run_worker(session: pytest.Session, connection: Connection, others: list[Connection]) -> None:
    """Run in a forked process: ask the parent for files until there is none."""
    for each in others:
        each.close()  # else nobody notices that the parent died
    _part_from_the_parent(session.config)
    session.config.pluginmanager.register(Reporter(session.config, connection))
    upcoming = _assigned(session, connection)
    item = next(upcoming, None)
    try:
        # Unasked comes only that it is to stop; what ends by its own failure need not be asked.
        while not (item is None or connection.poll() or session.shouldfail):
            following = next(upcoming, None)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            connection.send(("finished",))
            item = following
    finally:
        setup: SetupState = session._setupstate  # as workers of pytest-xdist: pytest has no other way
        setup.teardown_exact(None)


def _assigned(session: pytest.Session, connection: Connection) -> Iterator[pytest.Item]:
    """Give test after test; a worker looks one ahead, since fixtures of several tests live until the last of them."""
    while True:
        connection.send(("next",))
        numbers = connection.recv()
        if not numbers:
            return
        yield from (session.items[number] for number in numbers)


def _part_from_the_parent(config: pytest.Config) -> None:
    """Give the process its own captured output, temporary folder and random numbers; it prints nothing of its own."""
    config.pluginmanager.unregister(name="terminalreporter")
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    for stream in (capture._global_capturing.out, capture._global_capturing.err):
        if isinstance(stream, FDCapture):  # not with -s
            with TemporaryFile() as own:
                os.dup2(own.fileno(), stream.tmpfile.fileno())
    folders = _temporary_folders(config)
    folders._basetemp = folders.mktemp("worker")
    random.seed()


def _temporary_folders(config: pytest.Config) -> TempPathFactory:
    return config._tmp_path_factory  # type: ignore[attr-defined] # as above


class Reporter:
    """Sends what tests report to the parent."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))
