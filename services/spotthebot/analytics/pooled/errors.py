"""The errors of pooled results.

Conflict
└── ProtocolsDiffer
"""

from spotthebot.kit.errors import Conflict


class ProtocolsDiffer(Conflict):
    """'{campaign}' uses {protocol}, '{other}' {another}: pool campaigns with the same version of one protocol."""
