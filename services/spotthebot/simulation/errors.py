"""What simulated annotators do not do.

Invalid
├── ProtocolNotSimulated
└── PanelNotSimulated
"""

from spotthebot.kit.errors import Invalid


class ProtocolNotSimulated(Invalid):
    """Simulated annotators can answer only the protocols {known}: the campaign '{name}' uses '{protocol}'."""


class PanelNotSimulated(Invalid):
    """Simulated annotators lack ids of the panel '{panel}' of the campaign '{name}': use one without a panel."""
