"""The errors of backups and restorations.

Unavailable
├── DumpFailed
├── RestoreFailed
└── NoClientPrograms
Conflict
├── SuiteStarting
├── BackupExists
├── HasDatabase
├── SchemasMissing
└── DatabaseInUse
Invalid
├── NotABackup
├── BackupDamaged
├── NewerBackup
└── NewerServer
"""

from spotthebot.kit.errors import Conflict, Invalid, Unavailable


class DumpFailed(Unavailable):
    """The schema {schema} could not be read ({reason}): no backup was written."""


class RestoreFailed(Unavailable):
    """The schema {schema} could not be restored ({reason}): the suite's data are as they were before."""


class NoClientPrograms(Unavailable):
    """The server is PostgreSQL {major}, and there is no pg_dump {major} or later here: install postgresql-client."""


class SuiteStarting(Conflict):
    """The suite on {folder} is starting or stopping (process {pid}): try again in a minute."""


class BackupExists(Conflict):
    """{path} exists already: choose another name, or add --overwrite to replace it."""


class HasDatabase(Conflict):
    """There is a database with {tables} tables already: add --replace to put the backup in its place, for good."""


class SchemasMissing(Conflict):
    """{path} holds no data of {names}, which would be empty: add --partial to restore it all the same."""


class DatabaseInUse(Conflict):
    """The database is in use by {names}: stop them, then restore again."""


class NotABackup(Invalid):
    """{path} is not a backup of a suite, or its end is missing: use a file that './stb backup' completed."""


class BackupDamaged(Invalid):
    """{path} is damaged ({reason}), and nothing was changed: restore another backup."""


class NewerBackup(Invalid):
    """{path} was made by release {made_by}, which is newer than this one ({release}): restore it with that release."""


class NewerServer(Invalid):
    """{path} was made on PostgreSQL {made_on}, and the server here is {major}: restore it on {made_on} or later."""
