"""Which process to run, and the events and status that are reported of it."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

EventKind = Literal["started", "ready", "hung", "died", "stopped"]


@dataclass(frozen=True)
class HealthLimits:
    """How often a process is asked, and what it may miss before it counts as hung.

    An answer is waited for `timeout_seconds`. A process that used no processor hangs after `misses` in a row, a busy
    one after `busy_seconds` without an answer.
    """

    every_seconds: float = 5.0
    timeout_seconds: float = 5.0
    misses: int = 3
    busy_seconds: float = 120.0


@dataclass(frozen=True)
class ProcessSpec:
    """One process to keep alive.

    It counts as healthy once `ready_url` answers 200 and `ready_line` occurs in a line of its output; with
    neither, once it has lived for half a second. Afterwards it has to answer at `health_url`, or to touch its
    `heartbeat_file`, within `health_limits`: one that hangs is killed and started again. `env` is the whole
    environment (None: ours). The child inherits `listener`, whose number is appended to `argv` as `--fd NUMBER`.
    Standard output and standard error are appended to `log_file`. With `fork_needs`, the process is a fork of a program
    that has imported these modules (`forks`), and `argv` is that of a Python module (`python -m MODULE ...`).
    """

    name: str
    argv: tuple[str, ...]
    log_file: Path
    env: Mapping[str, str] | None = None
    listener: socket.socket | None = None
    fork_needs: tuple[str, ...] = ()
    ready_url: str | None = None
    ready_line: str | None = None
    health_url: str | None = None
    heartbeat_file: Path | None = None
    health_limits: HealthLimits = field(default_factory=HealthLimits)
    start_timeout_seconds: float = 30
    stop_timeout_seconds: float = 10


@dataclass(frozen=True)
class Event:
    """A change in a process's life.

    `exit_code` is set for "died" and "stopped" (negative: the signal), `delay_seconds`, the time until the
    restart, for "died".
    """

    name: str
    kind: EventKind
    pid: int
    exit_code: int | None = None
    delay_seconds: float | None = None


@dataclass(frozen=True)
class Status:
    """How a process is at the moment; `pid` is None while there is none."""

    name: str
    pid: int | None
    healthy: bool
    restarts: int


OnLine = Callable[[str, str], None]
OnEvent = Callable[[Event], None]
