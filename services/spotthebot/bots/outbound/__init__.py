"""HTTP to bots, whose URLs and answers are hostile until shown otherwise.

Every address is checked when the connection to it is made, and the connection is made to the address that was
checked; redirects are not followed; sizes and times are bounded; nothing is remembered between requests.
"""

from spotthebot.bots.outbound.http import Answer, BotHttp
from spotthebot.bots.outbound.resolving import CheckingResolver

__all__ = ["Answer", "BotHttp", "CheckingResolver"]
