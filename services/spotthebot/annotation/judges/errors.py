"""The errors of judges.

Invalid
└── UnknownJudge
NotFound
└── NoSuchJudge
"""

from spotthebot.kit.errors import Invalid, NotFound


class UnknownJudge(Invalid):
    """There is no judge '{name}' in version {version}: GET /v1/judges lists them."""


class NoSuchJudge(NotFound):
    """There is no judge '{name}' in version {version}."""
