"""One Alembic environment for all services: each has a lineage of revisions for its own schema.

Revisions are files `<schema>_NNNN_pre_<what>.py` or `<schema>_NNNN_post_<what>.py`. The previous release works with
each of them while it is being replaced. A *pre* revision removes nothing. A *post* revision removes tables and columns
that only earlier releases used. Its `OLDEST_HEAD = "<schema>_NNNN"` is the newest revision of the oldest release that
still works.
"""
