"""The account that runs PostgreSQL, and the files that it may reach.

PostgreSQL refuses to run as root. A normal user runs it under the user's own account. Root runs it under the account
`postgres`, or `nobody` if there is no such account. The lent account can't enter a private home, so its files must lie
on a path whose folders it may all enter.
"""

import os
import pwd
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from spotthebot.local.postgres.errors import NoUnprivilegedAccount

_LENT = ("postgres", "nobody")
_READ_AND_ENTER = 0o5
_ENTER = 0o1


class Identity(TypedDict):
    """The arguments of `subprocess` that set the user of a child."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None


OURSELVES = Identity(user=None, group=None, extra_groups=None)


@dataclass(frozen=True)
class Account:
    """An unprivileged account that root lends to PostgreSQL."""

    name: str
    uid: int
    gid: int

    @property
    def identity(self) -> Identity:
        # The list holds the account's own group because Python 3.12.0 ignores an empty one (CVE-2023-6507),
        # and the child would keep root's groups.
        return Identity(user=self.uid, group=self.gid, extra_groups=[self.gid])


def pick_account(home: Path) -> Account | None:
    """Return the account that runs the cluster in the folder `home`; None if it is the account of this process.

    An existing home stays with its owner, even if an account named `postgres` has appeared since. Raises
    NoUnprivilegedAccount.
    """
    if os.geteuid() != 0:
        return None
    if home.exists() and (status := home.stat()).st_uid != 0:
        return Account(name=f"number {status.st_uid}", uid=status.st_uid, gid=status.st_gid)
    for name in _LENT:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise NoUnprivilegedAccount


def first_closed_folder(account: Account, folder: Path) -> Path | None:
    """Return the outermost folder on the path to `folder` that the account can't use; None if it can use all.

    The path includes `folder` itself. The account must be able to enter the parents, and to read and enter `folder`.
    Only owner, group and mode bits are checked, not access control lists.
    """
    real = folder.resolve()
    for passed in reversed(real.parents):
        if not _may(account, passed, _ENTER):
            return passed
    return None if _may(account, real, _READ_AND_ENTER) else real


def child_environment() -> dict[str, str]:
    """Return the environment for PostgreSQL's programs, with only a few variables of this process.

    Our other variables may hold keys, which other processes of a lent account could read. PG* variables would change
    the programs' behaviour. Messages stay English, because we parse them.
    """
    passed_on = ("PATH", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in passed_on if name in os.environ} | {"LC_ALL": "C"}


def _may(account: Account, folder: Path, request: int) -> bool:
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == account.uid:
        mode >>= 6
    elif status.st_gid == account.gid:
        mode >>= 3
    return mode & request == request
