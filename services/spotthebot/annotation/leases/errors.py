"""The errors of leases that have, or have not, ended.

Conflict
├── AssignmentExpired
├── AssignmentSubmitted
└── AssignmentNotSubmitted
"""

from spotthebot.kit.errors import Conflict


class AssignmentExpired(Conflict):
    """This assignment expired on {expired_at}: claim a package again. Saved answers are kept."""


class AssignmentSubmitted(Conflict):
    """This assignment is submitted: its answers can't be changed."""


class AssignmentNotSubmitted(Conflict):
    """This assignment is not submitted: only a submitted one can be rejected."""
