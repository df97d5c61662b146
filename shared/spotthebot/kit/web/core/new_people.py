"""Limits how many new people may come in each minute by one link and from one address.

A person's id can be invented, and each new person costs a study a package or a chat. People who come back are not
counted.
"""

import time
from collections.abc import Callable

from pydantic import Field
from pydantic_settings import BaseSettings

from spotthebot.kit.errors import TooMany
from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter

_LEAST_WAIT_SECONDS = 15
"""Longer than pages wait for a service, so that people see the message and no flood of them waits."""


class TooManyNewPeople(TooMany):
    """Many people are coming in at the moment: try again in {retry_after_seconds} s."""


class NewPeopleSettings(BaseSettings):
    """The limits of new people. When a study begins, panels send a few dozen people a minute."""

    new_people_per_link_per_minute: int = Field(
        default=20, ge=1, description="New people a minute who may come by one link with ids that nobody signed."
    )
    new_people_per_address_per_minute: int = Field(
        default=5, ge=1, description="New people a minute who may come so from one network address."
    )


class NewPeople:
    """Counts new people by link and by address in one process."""

    def __init__(self, settings: NewPeopleSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._by_address = RateLimiter(settings.new_people_per_address_per_minute, clock)
        self._by_link = RateLimiter(settings.new_people_per_link_per_minute, clock)

    def admit(self, link: str, address: str | None) -> None:
        """Count a new person; raises TooManyNewPeople.

        The address is checked first. So an address with too many people does not use up the limit of the link.
        """
        if address is not None:
            self._require(self._by_address, network_of(address))
        self._require(self._by_link, link)

    @staticmethod
    def _require(limits: RateLimiter, key: str) -> None:
        if wait := limits.acquire(key).retry_after_seconds:
            raise TooManyNewPeople(retry_after_seconds=max(wait, _LEAST_WAIT_SECONDS))
