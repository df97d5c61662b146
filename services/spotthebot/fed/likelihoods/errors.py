"""The error of a model that no known Triton server serves.

Conflict
└── TritonMissing
"""

from spotthebot.kit.errors import Conflict


class TritonMissing(Conflict):
    """'{model}' is served by Triton, and this service knows no Triton server: name them in its `triton_servers`."""
