"""The `stb` command line, called in this process: as `./stb` runs it, without the start of a Python."""

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from spotthebot.cli import main


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
    with mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        else:
            code = 0
    return Printed(code, out.getvalue(), err.getvalue())
