"""Databases, schemas and roles: each service owns one schema and sees no other.

Every schema has two logins. `<database>_<schema>_owner` owns it and runs its migrations. `<database>_<schema>_app`
serves requests: it reads and writes rows and can't change the schema. The names contain the database, because roles
belong to the whole server, which may hold several such databases.

The schema `access` (API keys) has an owner only; every service's app login may read it.

Every login has limits: PostgreSQL ends statements that wait for a lock or run too long, and transactions that stay open
too long. Workers and migrations raise these limits on their own connections.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from psycopg import Connection, sql

from spotthebot.local.postgres.errors import (
    DatabaseUnreachable,
    PasswordMissing,
    ProvisioningRefused,
    RoleNameTooLong,
    ServerTooOld,
)

ACCESS = "access"
_OLDEST = 15
_MEMBERSHIP_OPTIONS_SINCE = 16
_ROLE_NAME_BYTES = 63
_CONNECT_SECONDS = 10
_LIMITS: Mapping[LiteralString, LiteralString] = {
    "lock_timeout": "5s",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}
_FROM_NOW_ON: LiteralString = "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} GRANT "
_USE: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA {schema} TO {app}",
    _FROM_NOW_ON + "SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
    _FROM_NOW_ON + "USAGE, SELECT ON SEQUENCES TO {app}",
    _FROM_NOW_ON + "EXECUTE ON ROUTINES TO {app}",
)
_READ: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA {schema} TO {app}",
    "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {app}",
    _FROM_NOW_ON + "SELECT ON TABLES TO {app}",
)


@dataclass(frozen=True)
class Provisioned:
    """The URLs of each schema's logins, by schema; `access` has an owner only."""

    owner_urls: Mapping[str, str]
    app_urls: Mapping[str, str]


def logins(schemas: Sequence[str]) -> list[str]:
    """Return the logins that need a password: "<schema>_owner" and "<schema>_app", and "access_owner"."""
    services = _services(schemas)
    return [f"{schema}_{kind}" for schema in services for kind in ("owner", "app")] + [f"{ACCESS}_owner"]


def provision(
    admin_url: str,
    database: str,
    schemas: Sequence[str],
    passwords: Mapping[str, str],
    *,
    roles_of: str | None = None,
) -> Provisioned:
    """Create a database, its schemas and their roles, as far as they are missing, and set the roles' passwords.

    `schemas` are the services' names (`access` is added); `passwords` has an entry for each of `logins(schemas)`. With
    `roles_of`, the schemas get the roles of the database `roles_of`, which this database will replace; with None, they
    get roles of this database. The call can be repeated at any time: with other passwords, with one more schema, or by
    several processes at once. Privileges apply to tables that the owner creates afterwards, so provision before
    migrating. Privileges on `access` also apply to existing tables.

    The admin is a superuser, or has CREATEDB and CREATEROLE and created the roles. Raises DatabaseUnreachable,
    ServerTooOld, ProvisioningRefused, RoleNameTooLong, PasswordMissing.
    """
    services = _services(schemas)
    roles = {login: f"{roles_of or database}_{login}" for login in logins(schemas)}
    for login, role in roles.items():
        if login not in passwords:
            raise PasswordMissing(login=login)
        if len(role.encode()) > _ROLE_NAME_BYTES:
            raise RoleNameTooLong(role=role)
    with connected(admin_url, database) as admin:
        if admin.info.server_version // 10_000 < _OLDEST:
            raise ServerTooOld(major=admin.info.server_version // 10_000)
        # Held until the connection closes; otherwise two processes could both miss a role and both create it.
        admin.execute("SELECT pg_advisory_lock(hashtext('spotthebot.provision'))")
        for login, role in roles.items():
            _set_role(admin, role, passwords[login])
            if login.endswith("_owner"):
                _act_for(admin, role)
        _set_database(admin, database, list(roles.values()))
        with connected(url_with(admin_url, database=database), database) as inside, inside.transaction():
            inside.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
            for schema in (*services, ACCESS):
                _set_schema(inside, schema, owner=roles[f"{schema}_owner"])
            for schema in services:
                app, owner = roles[f"{schema}_app"], roles[f"{schema}_owner"]
                _grant(inside, _USE, schema, owner, app)
                _grant(inside, _READ, ACCESS, roles[f"{ACCESS}_owner"], app)
    urls = {
        login: url_with(admin_url, database=database, user=role, password=passwords[login])
        for login, role in roles.items()
    }
    return Provisioned(
        owner_urls={schema: urls[f"{schema}_owner"] for schema in (*services, ACCESS)},
        app_urls={schema: urls[f"{schema}_app"] for schema in services},
    )


def _services(schemas: Sequence[str]) -> list[str]:
    return [schema for schema in schemas if schema != ACCESS]


def _set_role(admin: Connection, role: str, password: str) -> None:
    known = admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount
    # The server gets a SCRAM verifier; the password itself would appear in its log if the statement failed.
    verifier = admin.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    statement = sql.SQL("{verb} ROLE {role} LOGIN PASSWORD {verifier}").format(
        verb=sql.SQL("ALTER" if known else "CREATE"),
        role=sql.Identifier(role),
        verifier=sql.Literal(verifier),
    )
    admin.execute(statement)
    for name, limit in _LIMITS.items():
        setting = sql.SQL("ALTER ROLE {} SET {} = {}")
        admin.execute(setting.format(sql.Identifier(role), sql.SQL(name), sql.Literal(limit)))


def _act_for(admin: Connection, owner: str) -> None:
    """Make an admin who is not a superuser a member of `owner`, whose schema and privileges the admin sets up.

    Since PostgreSQL 16 the creator of a role may administer it, but can neither inherit from the role nor become the
    role without this grant.
    """
    if admin.info.parameter_status("is_superuser") == "on":
        return
    granted = sql.SQL("GRANT {owner} TO CURRENT_USER").format(owner=sql.Identifier(owner))
    if admin.info.server_version // 10_000 >= _MEMBERSHIP_OPTIONS_SINCE:
        granted += sql.SQL(" WITH INHERIT TRUE, SET TRUE")
    admin.execute(granted)


def _set_database(admin: Connection, database: str, roles: list[str]) -> None:
    name = sql.Identifier(database)
    if not admin.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(name))
    admin.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    members = sql.SQL(", ").join(map(sql.Identifier, roles))
    admin.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, members))


def _set_schema(inside: Connection, schema: str, *, owner: str) -> None:
    inside.execute(
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {}").format(sql.Identifier(schema), sql.Identifier(owner))
    )


def _grant(inside: Connection, statements: Sequence[LiteralString], schema: str, owner: str, app: str) -> None:
    names = {"schema": schema, "owner": owner, "app": app}
    identifiers = {part: sql.Identifier(name) for part, name in names.items()}
    for statement in statements:
        inside.execute(sql.SQL(statement).format(**identifiers))


@contextmanager
def connected(url: str, database: str) -> Iterator[Connection]:
    """Yield an admin's connection that commits each statement; `database` is for error messages."""
    parts = urlsplit(url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise ProvisioningRefused(admin=parts.username, database=database, reason=_sentence(error)) from error
    except psycopg.OperationalError as error:
        server = parts.netloc.rpartition("@")[2] or "its default address"
        raise DatabaseUnreachable(server=server, reason=_sentence(error)) from error


def _sentence(error: psycopg.Error) -> str:
    return " ".join(str(error).split())


def url_with(url: str, *, database: str, user: str | None = None, password: str | None = None) -> str:
    """Return a URL for another database of the same server, optionally for another user."""
    parts = urlsplit(url)
    login, at, address = parts.netloc.rpartition("@")
    overriding = {"dbname", "user", "password"}
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in overriding]
    if user and password:
        login, at = f"{quote(user, safe='')}:{quote(password, safe='')}", "@"
    # Joined by hand, because urlunsplit drops the slashes of postgresql:///database.
    target = f"{parts.scheme}://{login}{at}{address}/{quote(database, safe='')}"
    return f"{target}?{urlencode(query)}" if query else target
