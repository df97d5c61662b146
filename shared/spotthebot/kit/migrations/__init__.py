"""One Alembic environment for all services: each has a lineage of revisions for its own schema.

Revisions are files `<schema>_NNNN_pre_<what>.py` or `<schema>_NNNN_post_<what>.py`: a *pre* revision must work with
the previous release still running, a *post* one may remove what that release needed.
"""

from spotthebot.kit.migrations.lineage import Lineage, check_drift, current_revision, upgrade

__all__ = ["Lineage", "check_drift", "current_revision", "upgrade"]
