"""The errors of the embedded PostgreSQL, from its creation to its connections."""

from spotthebot.kit.errors import Conflict, Invalid, Unavailable


class PostgresNotFound(Unavailable):
    """No {request} was found: install 'spotthebot[suite]', or PostgreSQL from your system's packages."""


class BinariesUnreadable(Unavailable):
    """PostgreSQL cannot run as root, and {account} cannot read {folder}: install 'spotthebot[suite]'."""


class NoUnprivilegedAccount(Unavailable):
    """PostgreSQL cannot run as root, and no account 'postgres' or 'nobody' exists: start as another user."""


class HomeUnreachable(Invalid):
    """The account {account} cannot enter {folder}: set SPOTTHEBOT_POSTGRES_HOME to a folder it can reach."""


class FolderNotWritable(Invalid):
    """The folder {folder} cannot be written: {reason}."""


class DiskFull(Unavailable):
    """The disk that holds {folder} is full: free some space."""


class ClusterNotCreated(Unavailable):
    """The database in {folder} could not be created ({reason})."""


class ClusterMissing(Conflict):
    """The database folder {folder} is missing: put it back, or remove {password_file} to begin with an empty one."""


class AdminPasswordMissing(Conflict):
    """The password of the database in {folder} is missing: put {password_file} back."""


class ClusterInUse(Conflict):
    """The database in {folder} is in use by process {pid}: stop that process first."""


class ClusterDidNotStart(Unavailable):
    """PostgreSQL did not start ({reason}), and the end of {log_file} says '{log}'."""


class DatabasePortTaken(Conflict):
    """Port {port} for the database is taken: choose another, or leave it out to use a free one."""


class DatabaseUnreachable(Unavailable):
    """The database server at {server} does not answer ({reason}): check that it runs and that its URL is right."""


class ServerTooOld(Invalid):
    """The database server is PostgreSQL {major}: use PostgreSQL 15 or later."""


class ProvisioningRefused(Invalid):
    """The account {admin} may not set up the database {database} ({reason}): use an account that may."""


class RoleNameTooLong(Invalid):
    """The role name {role} is longer than PostgreSQL's 63 bytes: choose a shorter database name."""


class PasswordMissing(Invalid):
    """The login {login} has no password: give one."""
