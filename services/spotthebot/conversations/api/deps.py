"""What the endpoints of `conversations` are given: who asks, the queue, the other services."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.contracts.access import Role
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.authentication import allow
from spotthebot.kit.web.idempotency import idempotent

_admins = allow(Role.ADMIN)

Admin = Annotated[Principal, Depends(idempotent(_admins))]
"""Who may create; honours `Idempotency-Key`."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Taker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE, Role.TEAM))]
"""Who may read the conversations that a bot takes part in: a team, of its own bots."""


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


def _bots(request: Request) -> Bots:
    bots: Bots = request.app.state.bots
    return bots


def _settings(request: Request) -> ConversationsSettings:
    settings: ConversationsSettings = request.app.state.settings
    return settings


JobQueue = Annotated[Jobs, Depends(_jobs)]
BotsClient = Annotated[Bots, Depends(_bots)]
Settings = Annotated[ConversationsSettings, Depends(_settings)]
