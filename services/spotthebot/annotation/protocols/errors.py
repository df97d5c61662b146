"""The errors of protocols, of answers to their questions, and of opening exchanges.

Invalid
├── UnknownProtocol
├── ProtocolFaulty
└── InvalidAnswer
NotFound
└── NoSuchProtocol
Conflict
├── ProtocolBuiltIn
├── ProtocolVersionStored
├── ShownWhole
├── NoExchangeOpen
├── ExchangeNotNext
├── AllExchangesOpen
├── EverythingDecided
└── DecisionLocked
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownProtocol(Invalid):
    """There is no protocol '{name}'{version}: GET /v1/protocols lists them."""


class ProtocolFaulty(Invalid):
    """The protocol is not valid: see `errors`."""


class InvalidAnswer(Invalid):
    """The answer does not fit the protocol: see `errors`. Nothing was saved."""


class NoSuchProtocol(NotFound):
    """There is no protocol '{name}' in version {version}."""


class ProtocolBuiltIn(Conflict):
    """The protocol '{name}' is built in: choose another name for yours."""


class ProtocolVersionStored(Conflict):
    """Version {version} of '{name}' is stored with other content and can't change: upload this as the next version."""


class ShownWhole(Conflict):
    """The protocol '{protocol}' shows every item whole: answer without opening an exchange."""


class NoExchangeOpen(Conflict):
    """No exchange of this item is open: open the first one, then answer."""


class ExchangeNotNext(Conflict):
    """Exchange {exchange} can't be opened yet: open exchange {next} first."""


class AllExchangesOpen(Conflict):
    """All {exchanges} exchanges of this item are open: decide by what they show."""


class EverythingDecided(Conflict):
    """Every question is answered, so no exchange opens: continue with the next item, or remove an unlocked answer."""


class DecisionLocked(Conflict):
    """The answer to '{question}'{side} is locked: it was given with {exchanges} exchanges open, and now more are."""
