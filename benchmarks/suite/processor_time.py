"""Processor time of a program from its start to its end, which load beside it disturbs less than its duration."""

import os
import resource
import subprocess
import sys
from statistics import median

REPEATS = 7


def processor_seconds(*arguments: str, repeats: int) -> float:
    """Return the median over some runs of `python ARGUMENTS`, after one that fills the caches, or that one alone."""
    first = _run(arguments)
    return median([_run(arguments) for _ in range(repeats)] or [first])


def _run(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - our own programs
        [sys.executable, *arguments],
        env=os.environ | {"COLUMNS": "100"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
