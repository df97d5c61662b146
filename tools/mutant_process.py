"""A process that runs pytest on a copy of the clone, forked from one that has loaded what the tests need of others."""

import json
import multiprocessing
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

NO_COMPILED_FILES = "PYTHONDONTWRITEBYTECODE"
PRELOADED = (
    "pytest",
    "hypothesis",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "fastapi",
    "httpx",
    "psycopg",
    "procrastinate",
    "sqlalchemy.ext.asyncio",
    "structlog",
    "typer.testing",
)
"""What takes most of the time that pytest takes to start; none of it is ours, so that no mutant is among it."""
_CURRENT_TEST = "PYTEST_CURRENT_TEST"
_RECORDED = """
[run]
branch = false
concurrency = thread, greenlet
context = ${{{current_test}-}}
data_file = {folder}/coverage
disable_warnings = already-imported, module-not-measured, module-not-imported, no-data-collected, couldnt-parse
include = {files}
parallel = true
sigterm = true
"""
"""What coverage records: in processes that a test starts, that test beside each line."""
_PHASES = (" (setup)", " (call)", " (teardown)")


class OnlyTests:
    """Makes pytest run some tests alone, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._number = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        others = [item for item in items if item.nodeid not in self._number]
        if others:
            config.hook.pytest_deselected(items=others)
        items[:] = sorted(
            (item for item in items if item.nodeid in self._number), key=lambda item: self._number[item.nodeid]
        )


class CoverageRecorder:
    """Writes to `record.json` in a folder how long each test takes, which of them fail, and what executes which line.

    `places` are the lines asked for, by file.
    """

    def __init__(self, clone: Path, folder: Path, places: Mapping[str, Sequence[int]]) -> None:
        self._clone, self._folder, self._places = clone, folder, places
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failed: set[str] = set()
        self._context = ""

    def pytest_configure(self) -> None:
        from coverage import Coverage  # noqa: PLC0415 - all other commands do without

        self._folder.mkdir()
        settings = self._folder / "coveragerc"
        files = "\n    ".join(["", *(str(self._clone / file) for file in self._places)])
        text = _RECORDED.format(current_test=_CURRENT_TEST, folder=self._folder, files=files)
        settings.write_text(text, encoding="utf-8")
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        self._coverage = Coverage(config_file=str(settings))
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        self._switch(item.nodeid)
        answer = yield
        self._switch("")
        return answer

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
        """Count what a fixture of several tests executes as executed by their file, or by all files."""
        before = self._context
        if fixturedef.scope != "function":
            self._switch("" if fixturedef.scope == "session" else before.partition("::")[0])
        try:
            return (yield)
        finally:
            self._switch(before)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._coverage.combine([str(self._folder)])
        data = self._coverage.get_data()
        lines = {}
        for file, numbers in self._places.items():
            executed = data.contexts_by_lineno(str(self._clone / file))
            lines[file] = {line: sorted(map(_executing, executed[line])) for line in numbers if line in executed}
        record = {"seconds": self._seconds, "failed": sorted(self._failed), "lines": lines}
        (self._folder / "record.json").write_text(json.dumps(record), encoding="utf-8")

    def _switch(self, context: str) -> None:
        if context != self._context:
            self._context = context
            self._coverage.switch_context(context)


def _executing(context: str) -> str:
    """Return the test, or of a process that a test started, its file: other tests of it may talk to it as well."""
    return context.partition("::")[0] if context.endswith(_PHASES) else context


def run_pytest(clone: str, arguments: Sequence[str], output: str, plugin: object) -> None:
    """Run pytest with a plugin in the copy and end this process with its exit code.

    What it prints goes to the file `output`. A mutant may never end, so this process and what it started end with the
    one that asked for it, however that ends.
    """
    os.setsid()
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    os.chdir(clone)
    with Path(output).open("w", encoding="utf-8") as opened:
        os.dup2(opened.fileno(), 1)
        os.dup2(opened.fileno(), 2)
    for name in [name for name in sys.modules if name.split(".")[0] in {"spotthebot", "tests", "tools"}]:
        del sys.modules[name]  # they came from the clone
    # A compiled file, known by its source's size and second, would hide the next mutant of the same size.
    sys.dont_write_bytecode = True
    os.environ.pop(_CURRENT_TEST, None)
    os.environ[NO_COMPILED_FILES] = "1"
    sources = [f"{clone}/services", f"{clone}/shared"]
    os.environ["PYTHONPATH"] = os.pathsep.join(sources)
    sys.path[:0] = [clone, *sources]
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # for the preloaded
    sys.exit(pytest.main([*options, *arguments], plugins=[plugin]))


def _end_with(parent: BaseProcess | None) -> None:
    """Kill this process group when a process ends; the fork server between the two lives as long as this one."""
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)
