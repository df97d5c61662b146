"""Services and workers as processes of their own, over a PostgreSQL of their own, to be killed and measured."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from cryptography.fernet import Fernet

from spotthebot.contracts.services import API_NAMES, SCHEMAS
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.processes.child import Child
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.processes.spec import Event, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.kit.service.process import migrate_access
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.health import kept_alive
from spotthebot.local.postgres.provision import ACCESS, Provisioned, logins, provision
from spotthebot.local.runtime import running_suite
from spotthebot.local.runtime.services import load_lineage
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import Keys

HOST = "127.0.0.1"
IMPORTED_ONCE = False
"""Whether the program that forks imports a service's own modules too, as tests that start many have it.

Benchmarks measure processes as `stb up` starts them.
"""
_DATABASE_CHECK_SECONDS = 0.05
# One key asks here as often as all of a campaign; bots are on loopback. A service ignores what it does not know.
_SETTINGS = {
    "ALLOWED_NETWORKS": '["127.0.0.0/8"]',
    "RATE_LIMIT_REQUESTS_PER_MINUTE": "100000000",
    "FRONTEND_RATE_LIMIT_REQUESTS_PER_MINUTE": "100000000",
}

_ACTIVITY = """
    SELECT application_name, state, wait_event_type, wait_event, now() - state_change, left(query, 80)
    FROM pg_stat_activity WHERE backend_type = 'client backend' ORDER BY state_change DESC
"""


@dataclass(frozen=True, kw_only=True)
class LentInstallation:
    """A folder for logs, and a database with every schema at its head whose server stays out of it."""

    folder: Path
    urls: Provisioned
    secrets_key: str = field(default_factory=lambda: Fernet.generate_key().decode())

    @property
    def server(self) -> Cluster | None:
        """The server that is killed and brought back; None where it is not this installation's own."""
        return None


@dataclass(frozen=True, kw_only=True)
class Installation(LentInstallation):
    """A folder with a PostgreSQL server of its own."""

    cluster: Cluster

    @property
    def server(self) -> Cluster:
        return self.cluster


@dataclass
class Processes:
    """What runs. Names: `bots-1`, `conversations-1`, `conversations-worker-1` and so on, and `postgres`."""

    installation: LentInstallation
    supervisor: Supervisor
    urls: Mapping[str, str]
    keys: Keys
    events: list[Event]
    _clients: contextlib.AsyncExitStack
    _known: dict[str, httpx.AsyncClient] = field(default_factory=dict)
    _killed: dict[str, int] = field(default_factory=dict)

    @property
    def database(self) -> DatabaseUrls:
        return DatabaseUrls(self.installation.urls.owner_urls, self.installation.urls.app_urls)

    @property
    def names(self) -> list[str]:
        return [status.name for status in self.supervisor.status()]

    def pid(self, name: str) -> int | None:
        """Return the present process of this name; None while there is none that is ready."""
        if name == "postgres":
            cluster = self.installation.server
            return cluster.pid if cluster is not None and cluster.running else None
        status = next(status for status in self.supervisor.status() if status.name == name)
        return status.pid if status.healthy else None

    def kill(self, name: str) -> bool:
        """End a process that is at work without a goodbye; False while it is still coming back."""
        pid = self.pid(name)
        if pid is None or self._killed.get(name) == pid:
            return False
        os.kill(pid, signal.SIGKILL)
        self._killed[name] = pid
        return True

    def last_words(self, lines: int = 10) -> str:
        """Return the ends of all logs, and what PostgreSQL does: one of them shows why nothing moves."""
        lines_of = {
            log.name: [line[:300] for line in log.read_text().splitlines() if '"event": "request"' not in line]
            for log in sorted(self.installation.folder.glob("*.log"))
        }
        lines_of["pg_stat_activity"] = self._activity()
        return "\n".join("\n".join([f"== {name}", *written[-lines:]]) for name, written in lines_of.items())

    def _activity(self) -> list[str]:
        """Return what the server's connections do and wait for, or why it does not answer."""
        if self.installation.server is None:
            return []
        try:
            with psycopg.connect(self.installation.server.admin_url, connect_timeout=3) as connection:
                return [str(row) for row in connection.execute(_ACTIVITY)]
        except psycopg.Error as error:
            return [str(error)]

    async def client(self, service: str) -> httpx.AsyncClient:
        """Return an administrator's client that begins again where its service was just killed."""
        if service not in self._known:
            key = await self.keys.make("admin")
            self._known[service] = await self._clients.enter_async_context(
                httpx.AsyncClient(
                    base_url=self.urls[service],
                    headers={"Authorization": f"Bearer {key}"},
                    timeout=60,
                    transport=httpx.AsyncHTTPTransport(retries=3),
                )
            )
        return self._known[service]


@contextmanager
def prepared_installation(*, durable: bool = True) -> Iterator[Installation]:
    """Make the database; blocks. A `durable` one keeps what it committed when it is killed."""
    folder = Path(tempfile.mkdtemp(prefix="stb-processes-"))
    folder.chmod(0o755)  # root's PostgreSQL runs as another account, which has to pass
    try:
        with Cluster(folder / "data", home=folder / "homes", durable=durable) as cluster:
            passwords = {login: secrets.token_hex(8) for login in logins(SCHEMAS)}
            urls = provision(cluster.admin_url, "processes", SCHEMAS, passwords)
            migrate_access(urls.owner_urls[ACCESS])
            for name in API_NAMES:
                upgrade(load_lineage(name), urls.owner_urls[name])
            yield Installation(folder=folder, cluster=cluster, urls=urls)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lent_installation(urls: DatabaseUrls) -> Iterator[LentInstallation]:
    """Use a database that was lent, whose server stays out of it."""
    with tempfile.TemporaryDirectory(prefix="stb-processes-") as folder:
        yield LentInstallation(folder=Path(folder), urls=Provisioned(owner_urls=urls.owner, app_urls=urls.app))


@asynccontextmanager
async def running_processes(
    installation: LentInstallation,
    *,
    counts: Mapping[str, int],
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> AsyncIterator[Processes]:
    """Run so many processes of each name and bring back what dies; the processes of a service share its socket.

    `counts` names services, and their workers as `bots-worker`. `settings` holds, by service, variables without their
    prefix.
    """
    events: list[Event] = []
    async with contextlib.AsyncExitStack() as stack:
        keys = await stack.enter_async_context(Keys(installation.urls.owner_urls[ACCESS]))
        service_key = await keys.make("service")
        sockets = {name: stack.enter_context(contextlib.closing(bind(HOST, 0))) for name in API_NAMES}
        urls = {name: f"http://{HOST}:{each.getsockname()[1]}" for name, each in sockets.items()}
        environments = {
            name: _environment(installation, name, service_key, urls, (settings or {}).get(name, {})) for name in urls
        }
        specs = [
            _spec(installation, f"{kind}-{number}", kind, sockets, urls, environments)
            for kind, count in counts.items()
            for number in range(1, count + 1)
        ]
        supervisor = await stack.enter_async_context(Supervisor(specs, on_event=events.append))
        clients = await stack.enter_async_context(contextlib.AsyncExitStack())
        kept = kept_alive(installation.server, events.append, check_seconds=_DATABASE_CHECK_SECONDS)
        async with kept:
            yield Processes(installation, supervisor, urls, keys, events, clients)


def _spec(
    installation: LentInstallation,
    name: str,
    kind: str,
    sockets: Mapping[str, socket.socket],
    urls: Mapping[str, str],
    environments: Mapping[str, Mapping[str, str]],
) -> ProcessSpec:
    service, _, working = kind.partition("-")
    command = (sys.executable, "-m", f"spotthebot.{service}")
    return ProcessSpec(
        name=name,
        argv=(*command, "work" if working else "serve"),
        log_file=installation.folder / f"{name}.log",
        env=environments[service],
        listener=None if working else sockets[service],
        fork_needs=_fork_needs(service, "work" if working else "serve"),
        ready_url=None if working else f"{urls[service]}/readyz",
        ready_line="worker.ready" if working else None,
        start_timeout_seconds=60,
    )


async def launched(
    service: str, command: str, environment: Mapping[str, str], listener: socket.socket | None = None
) -> Child:
    """Start a service or its worker as `stb up` does, but for somebody who brings it back; nobody reads its output."""
    module = f"spotthebot.{service}"
    spec = ProcessSpec(
        name=service,
        argv=(sys.executable, "-m", module, command),
        log_file=Path(os.devnull),
        env=environment,
        listener=listener,
        fork_needs=_fork_needs(service, command),
    )
    return await Child.launch(spec, lambda _name, _line: None)


def _fork_needs(service: str, command: str) -> tuple[str, ...]:
    """Return what services need before they are forked; coverage begins with an interpreter, so there are no forks."""
    own = (f"spotthebot.{service}.{'worker' if command == 'work' else 'app'}",) if IMPORTED_ONCE else ()
    return () if "COVERAGE_PROCESS_START" in os.environ else (running_suite.__name__, *own)


def _environment(
    installation: LentInstallation, name: str, service_key: str, urls: Mapping[str, str], settings: Mapping[str, str]
) -> dict[str, str]:
    own = {
        "DATABASE_URL": installation.urls.app_urls[name],
        "SERVICE_KEY": service_key,
        **{f"{peer.upper()}_URL": url for peer, url in urls.items() if peer != name},
        **(_SETTINGS | {"MODELS_FOLDER": str(installation.folder / "models"), "SECRETS_KEY": installation.secrets_key}),
        **settings,
    }
    prefixed = {f"SPOTTHEBOT_{name.upper()}_{key}": value for key, value in own.items()}
    return {**os.environ, **prefixed, "PYTHONUNBUFFERED": "1"}


def pids(processes: Processes, prefix: str) -> Sequence[int]:
    """Return the present processes whose names begin so."""
    found = [status.pid for status in processes.supervisor.status() if status.name.startswith(prefix)]
    return [pid for pid in found if pid is not None]
