"""The errors of simulated annotators.

Invalid
└── PanelNotSimulated
"""

from spotthebot.kit.errors import Invalid


class PanelNotSimulated(Invalid):
    """Simulated annotators lack ids of the panel '{panel}' of the campaign '{name}': use one without a panel."""
