"""The errors of probing judges.

Conflict
└── NothingToProbe
"""

from spotthebot.kit.errors import Conflict


class NothingToProbe(Conflict):
    """The campaign '{campaign}' shows no item that asks who is human, so there is nothing to probe a judge with."""
