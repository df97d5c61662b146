"""Runs a program in a session of its own. The program ends when this process ends."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from spotthebot.kit.processes.lifeline import die_with_parent

_POLL_SECONDS = 0.05


class Process:
    """A running program, detached from the terminal.

    A program that is attached to the terminal would get Ctrl-C together with all others, instead of in order. Standard
    input is empty. `output` receives standard output and standard error (None: ours). `env` is the whole environment
    (None: ours). `inherited` has the numbers of open files that the program shares with us. When this process ends, the
    program gets `death_signal`, if the main thread started it (`lifeline`). `options` are further arguments of
    `subprocess.Popen`, such as the user and the folder. Raises OSError.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        output: int | None = None,
        env: Mapping[str, str] | None = None,
        inherited: Sequence[int] = (),
        death_signal: signal.Signals = signal.SIGTERM,
        **options: Any,  # noqa: ANN401 - as `subprocess.Popen` declares them
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - no shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            pass_fds=inherited,
            start_new_session=True,
            preexec_fn=die_with_parent(death_signal),  # noqa: PLW1509 - one system call, no lock taken
            **options,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Return the exit code, negative for a signal; None while the program runs."""
        return self._process.poll()

    async def wait(self) -> int:
        """Wait until the program has ended; return its exit code."""
        if sys.platform == "linux" and self.returncode is None:
            await _readable(os.pidfd_open(self.pid))
        while (exit_code := self.returncode) is None:  # noqa: ASYNC110 - other systems have no event for it
            await asyncio.sleep(_POLL_SECONDS)
        return exit_code

    def end(self, *steps: tuple[signal.Signals, float]) -> None:
        """End the program. Each step sends a signal and waits for some seconds until the program has ended.

        If the program still runs after the last step, it is killed. This call blocks.
        """
        for number, seconds in steps:
            self.send(number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                return
        self.send(signal.SIGKILL)
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program and its children, unless the program has ended."""
        if self.returncode is None:
            signal_group(self.pid, number)


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process group. If the group does not exist yet, send it to the process that will lead it.

    Does nothing if neither the group nor the process exists.
    """
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


async def _readable(file: int) -> None:
    loop, is_readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, is_readable.set)
    try:
        await is_readable.wait()
    finally:
        loop.remove_reader(file)
        os.close(file)
