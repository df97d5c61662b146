"""The errors of leases that have, or have not, ended, and of leases that a judge holds.

Conflict
├── AssignmentExpired
├── AssignmentSubmitted
├── AssignmentNotSubmitted
├── SubmitsWithLabels
└── HasNoLabels
"""

from spotthebot.kit.errors import Conflict


class AssignmentExpired(Conflict):
    """This assignment ended on {ended_at}: a claim returns it, another or the reason. Saved answers are kept."""


class AssignmentSubmitted(Conflict):
    """This assignment is submitted: its answers can't be changed."""


class AssignmentNotSubmitted(Conflict):
    """This assignment is not submitted: only a submitted one can be rejected."""


class SubmitsWithLabels(Conflict):
    """A judge holds this package: submit all items at once, with probabilities, to `/judge-labels`."""


class HasNoLabels(Conflict):
    """No judge holds this package: save the answers one by one, and submit without probabilities."""
