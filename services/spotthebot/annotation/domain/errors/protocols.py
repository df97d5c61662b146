"""The errors of protocols.

Invalid
├── UnknownProtocol
├── ProtocolFaulty
└── TaskNotConvertible
NotFound
└── NoSuchProtocol
Conflict
├── ProtocolBuiltIn
└── ProtocolVersionStored
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownProtocol(Invalid):
    """There is no protocol '{name}'{version}: GET /v1/protocols lists them."""


class ProtocolFaulty(Invalid):
    """Nobody can annotate by this protocol: see `errors`."""


class TaskNotConvertible(Invalid):
    """The task of ABC-Eval can't be converted: {reason}."""


class NoSuchProtocol(NotFound):
    """There is no protocol '{name}' in version {version}."""


class ProtocolBuiltIn(Conflict):
    """The protocol '{name}' is built in: choose another name for yours."""


class ProtocolVersionStored(Conflict):
    """Version {version} of the protocol '{name}' holds another document, and never changes: make this the next one."""
