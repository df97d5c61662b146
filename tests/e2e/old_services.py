"""Runs services and workers of a release that has other revisions, all in one process, until SIGTERM.

A program of its own: the argument is JSON with `settings` by service, `revisions`, the folder of each, and `sockets`,
file descriptors to listen on. It migrates first, with the owners' URLs in `owners`, and prints API keys by role, as
JSON, when all serve.
"""

import asyncio
import json
import signal
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn

from spotthebot.kit.access.store import create_key
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.service.process import migrate_access
from spotthebot.kit.serving.configuration import server_config
from spotthebot.kit.telemetry.logs import configure_logs

_ROLES = ("admin", "annotation", "service")


async def _serve(settings: dict[str, dict[str, Any]], sockets: dict[str, int], keys: dict[str, str]) -> None:
    servers, work = [], []
    for name, values in settings.items():
        service = import_module(f"spotthebot.{name}.app").SERVICE
        own = service.settings(**values)
        server = uvicorn.Server(server_config(service.create_app(own), lifespan="on", timeout_graceful_shutdown=8))
        servers.append((server, asyncio.create_task(server._serve([socket(fileno=sockets[name])]))))
        if find_spec(f"spotthebot.{name}.worker"):
            work.append(asyncio.create_task(import_module(f"spotthebot.{name}.worker").WORKER.work(own)))
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    while not all(server.started for server, _ in servers):
        await asyncio.sleep(0.02)
    print(json.dumps(keys), flush=True)
    await stopped.wait()
    for task in work:
        task.cancel()
    await asyncio.gather(*work, return_exceptions=True)
    for server, _ in servers:
        server.should_exit = True
    await asyncio.gather(*(serving for _, serving in servers))


async def _make_keys(access_url: str) -> dict[str, str]:
    database = Database(access_url, pool_size=1)
    try:
        async with database.write() as session:
            return {role: (await create_key(session, role=role, team=None))[1] for role in _ROLES}
    finally:
        await database.close()


if __name__ == "__main__":
    configure_logs("tests", "ERROR")
    given = json.loads(sys.argv[1])
    migrate_access(given["owners"]["access"])
    for schema, folder in given["revisions"].items():
        app: Any = import_module(f"spotthebot.{schema}.app")
        app.LINEAGE = replace(app.LINEAGE, revisions=Path(folder))
        upgrade(app.LINEAGE, given["owners"][schema])
    keys = asyncio.run(_make_keys(given["owners"]["access"]))
    services = {name: values | {"service_key": keys["service"]} for name, values in given["settings"].items()}
    asyncio.run(_serve(services, given["sockets"], keys))
