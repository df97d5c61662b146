"""The errors of drawing a figure.

Conflict └── StabilityNotComputed
"""

from spotthebot.kit.errors import Conflict


class StabilityNotComputed(Conflict):
    """The stability of campaign {campaign_id} was not computed: POST /v1/analyses with kind 'stability' first."""
