"""Creation of a cluster, completely or not at all."""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from spotthebot.kit.processes.lifeline import die_with_parent
from spotthebot.local.postgres.account import OURSELVES, child_environment
from spotthebot.local.postgres.binaries import Binaries
from spotthebot.local.postgres.errors import ClusterNotCreated, DiskFull
from spotthebot.local.postgres.home import Home, disk_errors, write_private

ADMIN = "spotthebot_admin"
_UNFINISHED = "unfinished-"
# The sort order C depends on no system library, whose updates would break indexes.
_INITDB = (
    "--encoding=UTF8",
    "--locale=C",
    "--auth-host=scram-sha-256",
    "--auth-local=scram-sha-256",
    f"--username={ADMIN}",
    "--no-instructions",
)


def create_cluster(home: Home, binaries: Binaries, *, durable: bool) -> None:
    """Create the cluster of `home` and its superuser, whose password goes to the data folder.

    Everything is made under a temporary name and renamed when complete. A failure leaves nothing behind, and the next
    call removes the remains of a killed process. Raises ClusterNotCreated, DiskFull, FolderNotWritable.
    """
    for left_over in home.folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    password = secrets.token_hex(24)
    with disk_errors(home.folder):
        scratch = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=home.folder))
        try:
            given = scratch / "password"
            write_private(given, password)
            if home.account:
                os.chown(given, home.account.uid, home.account.gid)
                os.chown(scratch, home.account.uid, home.account.gid)
            _initdb(home, binaries, scratch, durable=durable)
            write_private(home.password_file, password)
            (scratch / "cluster").rename(home.cluster)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def remove_if_empty(home: Home) -> None:
    """Remove the home of a cluster that was not created; its lock stays, because others may wait for it."""
    with suppress(OSError):
        home.folder.rmdir()


def _initdb(home: Home, binaries: Binaries, scratch: Path, *, durable: bool) -> None:
    argv = [
        str(binaries.folder / "initdb"),
        *_INITDB,
        f"--pwfile={scratch / 'password'}",
        f"--pgdata={scratch / 'cluster'}",
    ]
    if not durable:
        argv.append("--no-sync")
    try:
        made = subprocess.run(  # noqa: S603 - our own arguments, no shell
            argv,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=scratch,
            env=child_environment(),
            umask=0o077,
            preexec_fn=die_with_parent(signal.SIGTERM),
            **(home.account.identity if home.account else OURSELVES),
        )
    except OSError as error:
        raise ClusterNotCreated(folder=home.folder, reason=f"{argv[0]}: {error.strerror}") from error
    if made.returncode != 0:
        if "No space left on device" in made.stderr:
            raise DiskFull(folder=home.folder)
        reason = " ".join(made.stderr.split()) or f"initdb ended with status {made.returncode}"
        raise ClusterNotCreated(folder=home.folder, reason=reason)
