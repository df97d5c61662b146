"""The service `bots` and lean bots as processes of their own, on an embedded PostgreSQL that ends with them."""

import asyncio
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from spotthebot.bots.app import SERVICE
from spotthebot.bots.tables import LINEAGE
from spotthebot.contracts.access import Role
from spotthebot.kit.access.store import create_key
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.processes.process import Process
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service.process import migrate_access
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import ACCESS, logins, provision

HOST = "127.0.0.1"
_START_SECONDS = 60
_STOP_SECONDS = 10.0
_WITHOUT_LIMIT = "100000000"
# One key asks here as often as all teams of a campaign together, and an unknown one as often as is measured.
_OWN_SETTINGS = {
    "ALLOWED_NETWORKS": '["127.0.0.0/8"]',
    "RATE_LIMIT_REQUESTS_PER_MINUTE": _WITHOUT_LIMIT,
    "FAILED_KEYS_PER_MINUTE": _WITHOUT_LIMIT,
}


@dataclass(frozen=True)
class RunningBots:
    """A running service, and a key that may do everything with it."""

    url: str
    key: str
    process: psutil.Process
    database_url: str
    """The URL of the service's own role."""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def client(self) -> httpx.Client:
        """Return a client for what is not measured."""
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=60, trust_env=False)

    def register(self, client: httpx.Client, name: str, url: str, *, probe: bool = True) -> str:
        """Register a webhook bot that is sent signed questions; return its id."""
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - the example of Standard Webhooks
        registration: dict[str, Any] = {
            "name": name,
            "domains": ["everyday"],
            "protocol": {"kind": "webhook", "url": url},
            "limits": {"concurrency": 256},
            "secret": secret,
        }
        answer = client.post("/v1/bots", params={"probe": probe}, json=registration).raise_for_status()
        return str(answer.json()["id"])

    def cpu_seconds(self) -> float:
        """Return the processor time that the service has used so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def running_bots(**settings: str) -> Iterator[RunningBots]:
    """Run the service on a database of its own; `settings` are variables without their prefix."""
    with _folder() as folder, Cluster(folder / "data", home=folder / "homes") as cluster, ExitStack() as stack:
        urls = provision(
            cluster.admin_url,
            "benchmark",
            [SERVICE.name],
            {login: secrets.token_hex(8) for login in logins([SERVICE.name])},
        )
        migrate_access(urls.owner_urls[ACCESS])
        upgrade(LINEAGE, urls.owner_urls[SERVICE.name])
        key, service_key = (asyncio.run(_key(urls.owner_urls[ACCESS], role)) for role in (Role.ADMIN, Role.SERVICE))
        own = {
            "DATABASE_URL": urls.app_urls[SERVICE.name],
            "SERVICE_KEY": service_key,
            "SECRETS_KEY_FILE": str(folder / "secrets.key"),
            "MODELS_FOLDER": str(folder / "models"),
        }
        environment = {f"SPOTTHEBOT_BOTS_{name}": value for name, value in (_OWN_SETTINGS | own | settings).items()}
        with closing(bind(HOST, 0)) as listening:
            descriptor = listening.fileno()
            arguments = ("spotthebot.bots", "serve", "--fd", str(descriptor))
            log = folder / "bots.log"
            process = stack.enter_context(running_process(arguments, [descriptor], log=log, environment=environment))
            url = f"http://{HOST}:{listening.getsockname()[1]}"
        _wait_until_ready(url, process, log)
        yield RunningBots(url, key, psutil.Process(process.pid), own["DATABASE_URL"])


@contextmanager
def lean_bots(count: int = 1) -> Iterator[list[str]]:
    """Serve the lean bot on `count` ports and give their URLs."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(bind(HOST, 0))) for _ in range(count)]
        descriptors = [each.fileno() for each in sockets]
        with running_process(("benchmarks.bots.lean_bot", *map(str, descriptors)), descriptors):
            yield [f"http://{HOST}:{each.getsockname()[1]}" for each in sockets]


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="stb-benchmark-"))
    folder.chmod(0o755)  # root's PostgreSQL runs as another account, which has to pass
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_process(
    arguments: Sequence[str],
    descriptors: Sequence[int],
    *,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Process]:
    """Run a module. Its log goes to a file by itself: reading it here would cost the client time."""
    with ExitStack() as stack:
        output = stack.enter_context(log.open("wb")).fileno() if log is not None else None
        argv = (sys.executable, "-m", *arguments)
        process = Process(argv, env={**os.environ, **(environment or {})}, output=output, inherited=descriptors)
        stack.callback(process.end, (signal.SIGTERM, _STOP_SECONDS))
        yield process


def _wait_until_ready(url: str, process: Process, log: Path) -> None:
    ends = time.monotonic() + _START_SECONDS
    with httpx.Client(trust_env=False, timeout=_START_SECONDS) as client:
        while process.returncode is None and time.monotonic() < ends:
            with suppress(httpx.TransportError):  # it may end before it answers
                if client.get(f"{url}/readyz").status_code == 200:
                    return
            time.sleep(0.1)
    message = f"`bots` did not start: {log.read_text(encoding='utf-8')[-2000:]}"
    raise RuntimeError(message)


async def _key(owner_url: str, role: Role) -> str:
    database = Database(owner_url, pool_size=1)
    try:
        async with database.write() as session:
            return (await create_key(session, role=role, team=None))[1]
    finally:
        await database.close()
