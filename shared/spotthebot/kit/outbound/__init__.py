"""HTTP to servers of others, whose URLs and answers are hostile until shown otherwise.

Every address is checked when the connection to it is made, and the connection is made to the address that was
checked; redirects are not followed; sizes and times are bounded; nothing is remembered between requests.
"""

from spotthebot.kit.outbound.addresses import EVERYWHERE, FORBIDDEN, Network, networks
from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure, NothingAnswers, UrlNotUsable
from spotthebot.kit.outbound.http import Answer, GuardedHttp, read_json
from spotthebot.kit.outbound.owners import HttpByOwner
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.kit.outbound.urls import HTTP, read_url

__all__ = [
    "EVERYWHERE",
    "FORBIDDEN",
    "HTTP",
    "AddressNotAllowed",
    "Answer",
    "CallFailed",
    "CheckingResolver",
    "Failure",
    "GuardedHttp",
    "HttpByOwner",
    "Network",
    "NothingAnswers",
    "UrlNotUsable",
    "networks",
    "read_json",
    "read_url",
]
