"""The specification of a process to keep alive, and the events and the status that the supervisor reports."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

EventKind = Literal["started", "ready", "hung", "died", "stopped"]


@dataclass(frozen=True)
class HealthLimits:
    """How often a process is asked for an answer, and when it counts as hung.

    Each answer may take `timeout_seconds`. A process that uses no processor time counts as hung after `misses` missing
    answers in a row. A busy process counts as hung after `busy_seconds` without an answer.
    """

    every_seconds: float = 5.0
    timeout_seconds: float = 5.0
    misses: int = 3
    busy_seconds: float = 120.0


@dataclass(frozen=True)
class ProcessSpec:
    """One process to keep alive.

    It counts as healthy when `ready_url` answers 200 and a line of its output contains `ready_line`. If neither is
    given, it counts as healthy after half a second. From then on it has to answer at `health_url`, or to touch its
    `heartbeat_file`, within `health_limits`. A process that hangs is killed and restarted. `env` is the whole
    environment (None: ours). The child inherits `listener`, whose number is appended to `argv` as `--fd NUMBER`.
    Standard output and standard error are appended to `log_file`. With `fork_needs`, the process is a fork of a program
    that has imported these modules (`forks`), and `argv` is the command line of a Python module (`python -m MODULE
    ...`).
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
    """A change in the life of a process.

    `exit_code` is set for "died" and "stopped"; it is negative for a signal. `delay_seconds` is set for "died": it is
    the time until the restart.
    """

    name: str
    kind: EventKind
    pid: int
    exit_code: int | None = None
    delay_seconds: float | None = None


@dataclass(frozen=True)
class Status:
    """The current state of a process; `pid` is None while it does not run."""

    name: str
    pid: int | None
    healthy: bool
    restarts: int


OnLine = Callable[[str, str], None]
OnEvent = Callable[[Event], None]
