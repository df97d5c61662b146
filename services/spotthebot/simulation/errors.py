"""What simulated annotators do not do.

Invalid
├── ProtocolNotSimulated
└── PanelNotSimulated
"""

from spotthebot.kit.errors import Invalid


class ProtocolNotSimulated(Invalid):
    """Simulated annotators know the protocols {known} alone: the campaign '{name}' asks by '{protocol}'."""


class PanelNotSimulated(Invalid):
    """The campaign '{name}' takes annotators of the panel '{panel}', whose ids simulated annotators do not have."""
