"""The configuration of uvicorn for every application, both on the command line and in tests."""

from typing import Any

from fastapi import FastAPI

from spotthebot.kit.serving.connections import ConnectionLimits, ConnectionTable
from spotthebot.kit.serving.protocol import LimitedConfig, LimitedProtocol
from spotthebot.kit.settings import EdgeSettings

_IDLE_SECONDS = 75
"""Longer than clients (httpx: 5 s) and reverse proxies (nginx: 60 s) keep idle connections for reuse.

A client that sends a request into a closing connection can't know whether the request was served.
"""


def server_config(app: FastAPI, **options: Any) -> LimitedConfig:  # noqa: ANN401 - uvicorn's
    """Return the configuration that serves an application within the limits of its settings.

    `options` are uvicorn's.
    """
    settings: EdgeSettings = app.state.core.settings
    config = LimitedConfig(
        app,
        http=LimitedProtocol,
        ws="none",  # no application uses them, and an upgraded connection would escape the limits
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        **options,
    )
    config.table = ConnectionTable(
        ConnectionLimits(
            per_address=settings.max_connections_per_address,
            head_seconds=settings.head_timeout_seconds,
            body_seconds=settings.body_timeout_seconds,
        )
    )
    return config
