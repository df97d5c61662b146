"""New people: how many a minute may come in by one link, and from one address.

Ids that people bring with them can be made up, so each of these people costs a study a package or a chat. People who
come back are not counted.
"""

import time
from collections.abc import Callable

from pydantic import Field
from pydantic_settings import BaseSettings

from spotthebot.kit.errors import TooMany
from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter

_LEAST_WAIT_SECONDS = 15
"""Longer than pages wait for a service: people are told, and a flood of them waits nowhere."""


class TooManyNewPeople(TooMany):
    """Many people are coming in at the moment: try again in {retry_after_seconds} s."""


class NewPeopleSettings(BaseSettings):
    """How many new people a service lets in; panels send a few dozen a minute when a study begins."""

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

        The address comes first: one that sends too many uses up nothing of what the link has for others.
        """
        if address is not None:
            self._require(self._by_address, network_of(address))
        self._require(self._by_link, link)

    @staticmethod
    def _require(limits: RateLimiter, key: str) -> None:
        if wait := limits.acquire(key).retry_after_seconds:
            raise TooManyNewPeople(retry_after_seconds=max(wait, _LEAST_WAIT_SECONDS))
