"""One Alembic environment for all services: each has a lineage of revisions for its own schema.

Revisions are files `<schema>_NNNN_pre_<what>.py` or `<schema>_NNNN_post_<what>.py`. The release before works with all
of them while it is replaced: a *pre* revision takes nothing away, a *post* one removes what only earlier releases used,
and says by `OLDEST_HEAD = "<schema>_NNNN"` the newest revision of the oldest release that works with it.
"""

from spotthebot.kit.migrations.lineage import (
    Lineage,
    MigrationFailed,
    NewerDatabase,
    SchemaState,
    check_drift,
    read_state,
    state_of,
    upgrade,
)

__all__ = [
    "Lineage",
    "MigrationFailed",
    "NewerDatabase",
    "SchemaState",
    "check_drift",
    "read_state",
    "state_of",
    "upgrade",
]
