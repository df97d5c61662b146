"""The objects that the endpoints of `conversations` share while it runs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from spotthebot.conversations.clients import Bots
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.waits.count_watch import CountWatch
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.core.resources import resources_of


@dataclass(frozen=True)
class Resources:
    """Settings, the job queue, limits on newcomers, subscriptions, the client of `bots`, and the watch over chats."""

    settings: ConversationsSettings
    jobs: Jobs
    new_people: NewPeople
    subscriptions: Subscriptions
    bots: Bots
    chat_watch: CountWatch


ServiceResources = Annotated[Resources, Depends(resources_of)]
"""The resources that the lifespan of the application opened."""
