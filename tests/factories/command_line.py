"""The `stb` command line, called in this process: as `./stb` runs it, without the start of a Python."""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from spotthebot.cli.application import main
from tests.factories.one_address import one_address
from tests.factories.running_suite import RunningSuite


@dataclass(frozen=True)
class Printed:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def run_stb(*arguments: str | Path) -> Printed:
    """Run one command to its end. What is a process of its own by nature, such as `up`, is not called here."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["stb", *map(str, arguments)]
    printed = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    # A data folder's settings come into the environment of the command, and go with it.
    with mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ), printed[0], printed[1]:
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        else:
            code = 0
    return Printed(code, out.getvalue(), err.getvalue())


Stb = Callable[..., Awaitable[Printed]]
"""Runs one command in a thread."""


@contextlib.asynccontextmanager
async def stb_of_admin(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    """Run commands as an administrator of the running services, on a wide screen."""
    async with one_address(suite) as url:
        monkeypatch.setenv("SPOTTHEBOT_URL", url)
        monkeypatch.setenv("SPOTTHEBOT_KEY", await suite.keys.make("admin"))
        monkeypatch.setenv("COLUMNS", "200")

        async def run(*arguments: str | Path) -> Printed:
            return await asyncio.to_thread(run_stb, *arguments)

        yield run
