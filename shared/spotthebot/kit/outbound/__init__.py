"""HTTP to servers of others, whose URLs and answers are hostile until shown otherwise.

Every address is checked when the connection to it is made, and the connection is made to the address that was
checked; redirects are not followed; sizes and times are bounded; nothing is remembered between requests.
"""

from spotthebot.kit.outbound.addresses import EVERYWHERE, Network, networks
from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure
from spotthebot.kit.outbound.http import Answer, GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver

__all__ = [
    "EVERYWHERE",
    "AddressNotAllowed",
    "Answer",
    "CallFailed",
    "CheckingResolver",
    "Failure",
    "GuardedHttp",
    "Network",
    "networks",
]
