"""The registry of the services, as plain data. The suite, the tests, the OpenAPI documents and the docs read it.

A new service is one entry here. `tests/architecture/test_services.py` then lists the other places that must name it:
its extra and its import contracts in `pyproject.toml`, its row in `services/README.md`, its document in `openapi/`.
This module imports only the standard library, so that a command that needs a port imports no service.
"""

from dataclasses import dataclass

from spotthebot.contracts.access import Role

DEFAULT_PORT_BASE = 8100
"""The number before the services' ports."""


@dataclass(frozen=True)
class ServiceEntry:
    """One service: its package is `spotthebot.<name>`, its settings begin with `SPOTTHEBOT_<NAME>_`."""

    name: str
    owns: str
    port: int
    schema: str | None
    """Its schema in PostgreSQL: `<schema>_owner` migrates it, `<schema>_app` reads and writes its rows."""
    extra: str
    """The optional dependencies of `pyproject.toml` that its image installs."""
    has_worker: bool
    roles: frozenset[Role]
    """The roles of API keys that at least one of its endpoints accepts."""
    calls: tuple[str, ...] = ()
    """The services that it calls; it finds each by the setting `<other>_url`."""
    calls_outside: str = ""
    """Other servers that it calls, in words."""

    @property
    def package(self) -> str:
        return f"spotthebot.{self.name}"

    @property
    def environment_prefix(self) -> str:
        return f"SPOTTHEBOT_{self.name.upper()}_"

    def port_after(self, port_base: int) -> int:
        """Return the service's port if the suite's ports follow `port_base` instead of `DEFAULT_PORT_BASE`."""
        return self.port - DEFAULT_PORT_BASE + port_base


SERVICES: tuple[ServiceEntry, ...] = (
    ServiceEntry(
        name="bots",
        owns="bots, their versions and probes, hosted models, replies",
        port=8101,
        schema="bots",
        extra="bots",
        has_worker=False,
        roles=frozenset({Role.ADMIN, Role.TEAM, Role.ANALYST, Role.SERVICE}),
        calls=("conversations",),
        calls_outside="teams' bots, Triton",
    ),
    ServiceEntry(
        name="conversations",
        owns="corpora, partner sets, collections, conversations and their quality, chats, subscriptions",
        port=8102,
        schema="conversations",
        extra="conversations",
        has_worker=True,
        roles=frozenset(Role),
        calls=("bots",),
        calls_outside="subscribers",
    ),
    ServiceEntry(
        name="annotation",
        owns="protocols, campaigns, packages, assignments, annotations, subscriptions",
        port=8103,
        schema="annotation",
        extra="annotation",
        has_worker=True,
        roles=frozenset({Role.ADMIN, Role.ANNOTATION, Role.ANALYST, Role.SERVICE}),
        calls=("conversations", "fed"),
        calls_outside="subscribers",
    ),
    ServiceEntry(
        name="analytics",
        owns="answers it computed, analyses as jobs, standings of teams",
        port=8104,
        schema="analytics",
        extra="analytics",
        has_worker=True,
        roles=frozenset(Role),
        calls=("bots", "conversations", "annotation", "fed"),
    ),
    ServiceEntry(
        name="fed",
        owns="scores of dialogues by a language model, sets of dimensions",
        port=8105,
        schema="fed",
        extra="fed",
        has_worker=True,
        roles=frozenset({Role.ADMIN, Role.ANALYST, Role.SERVICE}),
        calls=("conversations", "annotation"),
        calls_outside="subscribers, Triton",
    ),
    ServiceEntry(
        name="web",
        owns="pages for annotators, teams and researchers; keeps nothing",
        port=8106,
        schema=None,
        extra="web",
        has_worker=False,
        roles=frozenset(),
        calls=("bots", "conversations", "annotation", "analytics", "fed"),
    ),
)
"""All services, in the order of their start."""

SERVICE_NAMES: tuple[str, ...] = tuple(service.name for service in SERVICES)
API_NAMES: tuple[str, ...] = tuple(service.name for service in SERVICES if service.schema is not None)
"""The services that have an API and store data."""
SCHEMAS: tuple[str, ...] = tuple(service.schema for service in SERVICES if service.schema is not None)


def get_service(name: str) -> ServiceEntry:
    """Return the registry's entry of the service with this name; raises KeyError."""
    for service in SERVICES:
        if service.name == name:
            return service
    raise KeyError(name)
