"""The objects that the endpoints of `annotation` share while it runs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from spotthebot.annotation.clients import Conversations
from spotthebot.clients import AsyncFed
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.core.resources import resources_of


@dataclass(frozen=True)
class Resources:
    """The job queue, the limits on newcomers, the subscriptions, and the clients of `conversations` and `fed`."""

    jobs: Jobs
    new_people: NewPeople
    subscriptions: Subscriptions
    conversations: Conversations
    fed: AsyncFed


ServiceResources = Annotated[Resources, Depends(resources_of)]
"""The resources that the lifespan of the application opened."""
