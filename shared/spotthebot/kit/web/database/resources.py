"""The objects on `app.state.database`, of an application with a database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import FastAPI, Request
from sqlalchemy import Table

from spotthebot.kit.database.sessions import Database
from spotthebot.kit.web.database.claims import RequestUnderWay

_NO_STATE: Mapping[str, Any] = {}


class RunningRequests:
    """The requests with an idempotency key that this process is answering now."""

    def __init__(self) -> None:
        self._identities: set[tuple[UUID, str, str]] = set()

    def begin(self, request: Request, identity: Mapping[str, Any]) -> None:
        """Note that a request is running, until `end` is called; raises RequestUnderWay if its key is already noted."""
        mine = (identity["principal"], identity["path"], identity["key"])
        if mine in self._identities:
            raise RequestUnderWay(retry_after_seconds=1)
        self._identities.add(mine)
        request.state.running = mine

    def end(self, request: Request) -> None:
        """Note that a request is no longer running, if it was noted."""
        self._identities.discard(request.scope.get("state", _NO_STATE).get("running"))


@dataclass(frozen=True)
class DatabaseResources:
    """The connections to PostgreSQL, the table of idempotency keys, how long keys are kept, and running requests."""

    pool: Database
    idempotency_table: Table | None
    idempotency_kept: timedelta
    running_requests: RunningRequests


def database_of(app: FastAPI) -> DatabaseResources:
    """Return the database resources of an application."""
    database: DatabaseResources = app.state.database
    return database
