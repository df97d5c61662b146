"""PostgreSQL's programs that read and write a database: of the oldest installed version that supports the server."""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from spotthebot.local.postgres.account import child_environment
from spotthebot.local.postgres.binaries import Binaries, candidate_folders, describe_binaries

_PIECE_BYTES = 1024 * 1024


class ProgramFailed(Exception):
    """A program ended with an error; the text is its error message."""


def find_client_programs(server_major: int) -> Binaries | None:
    """Return the programs of the server's version, else of the next later installed version; None without both."""
    found = [each for folder in candidate_folders() if (each := describe_binaries(folder))]
    able = [each for each in found if int(each.major) >= server_major and (each.folder / "pg_dump").exists()]
    return min(able, key=lambda each: int(each.major), default=None)


def output_of(programs: Binaries, name: str, url: str, *arguments: str) -> Iterator[bytes]:
    """Yield the output of a program, piece by piece; raises ProgramFailed."""
    with _running(programs, name, url, arguments, stdout=subprocess.PIPE) as process:
        output: IO[bytes] = process.stdout  # type: ignore[assignment] # it is a pipe
        while piece := output.read(_PIECE_BYTES):
            yield piece


def feed(programs: Binaries, name: str, url: str, *arguments: str, pieces: Iterable[bytes]) -> None:
    """Send input to a program piece by piece; raises ProgramFailed, and the errors of `pieces`."""
    with _running(programs, name, url, arguments, stdin=subprocess.PIPE) as process:
        taken: IO[bytes] = process.stdin  # type: ignore[assignment] # it is a pipe
        with suppress(BrokenPipeError):  # it ended early, and its error message says why
            for piece in pieces:
                taken.write(piece)
        with suppress(BrokenPipeError):
            taken.close()


@contextmanager
def _running(
    programs: Binaries, name: str, url: str, arguments: Iterable[str], **pipes: int
) -> Iterator[subprocess.Popen[bytes]]:
    address, environment = _login(url)
    argv = [str(programs.folder / name), f"--dbname={address}", "--no-password", *arguments]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(argv, stderr=errors, env=environment, **pipes)  # type: ignore[call-overload] # noqa: S603 - our own arguments, no shell
        except OSError as error:
            reason = f"{argv[0]}: {error.strerror}"
            raise ProgramFailed(reason) from error
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            errors.seek(0)
            raise ProgramFailed(_last_words(errors.read(), name, process.returncode))


def _login(url: str) -> tuple[str, Mapping[str, str]]:
    """Return the URL without its password, and an environment with it.

    The reason: everybody can read a program's arguments.
    """
    facts = conninfo_to_dict(url)
    password = facts.pop("password", None)
    return make_conninfo("", **facts), child_environment() | ({"PGPASSWORD": str(password)} if password else {})


def _last_words(errors: bytes, name: str, status: int) -> str:
    lines = [line for line in errors.decode(errors="replace").split("\n") if line.strip()]
    first = next((line for line in lines if "error:" in line), lines[-1] if lines else "")
    return " ".join(first.split()) or f"{Path(name).name} ended with status {status}"
