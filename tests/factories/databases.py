"""Migrated databases for tests: one PostgreSQL and one template for all test workers, databases that are reused.

Copying a template takes half a second, since a database of ours is a thousand small files; deleting the few rows that
a test left takes a hundredth of that. A database whose catalogue a test changed is dropped instead.
"""

import hashlib
import hmac
import json
import secrets
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url

from spotthebot.contracts.services import API_NAMES, SCHEMAS
from spotthebot.kit.access.tables import LINEAGE as ACCESS_LINEAGE
from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.service.process import migrate_access
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import ACCESS, Provisioned, logins, provision
from spotthebot.local.runtime.services import load_lineage

_COMMENT = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
_OTHERS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_CATALOGUE = """
    WITH ours AS (
        SELECT c.oid, c.relacl, c.relnatts, c.relhastriggers FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    )
    SELECT md5(string_agg(concat_ws(' ', oid, relacl, relnatts, relhastriggers), ',' ORDER BY oid)),
        (SELECT max(oid) FROM pg_proc), (SELECT max(oid) FROM pg_trigger), (SELECT max(oid) FROM pg_constraint),
        (SELECT count(*) FROM pg_attribute AS a JOIN ours ON ours.oid = a.attrelid WHERE NOT a.attisdropped),
        (SELECT count(*) FROM pg_statistic AS s JOIN ours ON ours.oid = s.starelid)
    FROM ours
"""
_IN_USE: Mapping[str, LiteralString] = {
    '"api_keys"': "WHERE false",
    '"procrastinate_jobs"': "WHERE status <> 'doing'",
    '"procrastinate_workers"': "WHERE false",
}
_TABLES = """
    SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = ANY(%s) AND c.relname <> 'alembic_version'
"""


@dataclass(frozen=True)
class PostgresServer:
    """The server of all test workers; `secret` makes the same passwords in each."""

    admin_url: str
    secret: str


@dataclass(frozen=True)
class DatabaseUrls:
    """One migrated database: the owner's and the app's URL of each schema."""

    owner: Mapping[str, str]
    app: Mapping[str, str]


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Run an embedded PostgreSQL for the databases of tests."""
    with running_cluster() as running:
        yield PostgresServer(running.admin_url, secrets.token_hex(16))


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Run an embedded PostgreSQL that trades safety for speed."""
    parent = Path(tempfile.mkdtemp(prefix="stb-tests-"))
    parent.chmod(0o755)  # root's PostgreSQL runs as another account, which has to pass
    try:
        with Cluster(parent / "data", home=parent / "homes", durable=False) as running:
            yield running
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def migrated_template(server: PostgresServer) -> Provisioned:
    """Return the database with every schema at its head; the first worker that asks makes it.

    Its name carries a hash of all migrations, so that another release's template on the same server is another one.
    """
    name = f"template_{_hash_of_migrations()}"
    passwords = {login: _password(server.secret, login) for login in logins(SCHEMAS)}
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
        made = admin.execute(_COMMENT, [name]).fetchone()
        if made is not None and made[0] is not None:
            return Provisioned(**json.loads(made[0]))
        urls = provision(server.admin_url, name, SCHEMAS, passwords)
        migrate_access(urls.owner_urls[ACCESS])
        for service in API_NAMES:
            upgrade(load_lineage(service), urls.owner_urls[service])
        known = json.dumps({"owner_urls": dict(urls.owner_urls), "app_urls": dict(urls.app_urls)})
        admin.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(name), sql.Literal(known)))
    return urls


class Databases:
    """Clones of the template: a test gets one that no other has, and leaves it to be cleaned for the next.

    The superuser's connection to each is kept: opening one takes longer than cleaning a database.
    """

    def __init__(self, server: PostgresServer, template: Provisioned) -> None:
        self._server = server
        self._template = template
        self._clean: defaultdict[str, list[str]] = defaultdict(list)
        self._catalogues: dict[str, object] = {}
        self._connections: dict[str, psycopg.Connection] = {}

    @contextmanager
    def lend(self, *, schema: str = "", more: str = "") -> Iterator[DatabaseUrls]:
        """Lend a database without rows while the block lasts; `more` is DDL that the owner of `schema` adds."""
        name = self._clean[more].pop() if self._clean[more] else self._clone(schema, more)
        try:
            yield DatabaseUrls(
                owner={each: _in(name, url) for each, url in self._template.owner_urls.items()},
                app={each: _in(name, url) for each, url in self._template.app_urls.items()},
            )
        finally:
            if self._is_cleaned(name):
                self._clean[more].append(name)

    def admin_url(self, urls: DatabaseUrls) -> str:
        """Return the superuser's URL of a database that was lent."""
        return _in(str(make_url(urls.owner[ACCESS]).database), self._server.admin_url)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _connection(self, name: str) -> psycopg.Connection:
        """Return the superuser's connection to a database: the kept one, unless a test ended it."""
        kept = self._connections.get(name)
        if kept is not None:
            try:
                kept.execute("SELECT")
            except psycopg.OperationalError:
                kept.close()
            else:
                return kept
        self._connections[name] = psycopg.connect(_in(name, self._server.admin_url), autocommit=True)
        return self._connections[name]

    def _clone(self, schema: str, more: str) -> str:
        name = f"test_{secrets.token_hex(6)}"
        source = str(make_url(self._template.owner_urls[ACCESS]).database)
        with psycopg.connect(self._server.admin_url, autocommit=True) as admin:
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            admin.execute(statement.format(sql.Identifier(name), sql.Identifier(source)))
        if more:
            with psycopg.connect(_in(name, self._template.owner_urls[schema])) as owner:
                owner.execute(more.encode())
        self._catalogues[name] = self._connection(name).execute(_CATALOGUE).fetchone()
        return name

    def is_as_made(self, urls: DatabaseUrls) -> bool:
        """Say whether a database still has the tables, rights, functions and triggers that it began with."""
        return self._has_its_catalogue(str(make_url(urls.owner[ACCESS]).database))

    def _has_its_catalogue(self, name: str) -> bool:
        return self._connection(name).execute(_CATALOGUE).fetchone() == self._catalogues[name]

    def _is_cleaned(self, name: str) -> bool:
        """Delete all rows; a database whose catalogue was changed is dropped instead."""
        self._connection(name).execute(_OTHERS)
        if self._has_its_catalogue(name):
            self._delete_rows(self._connection(name))
            return True
        self._connections.pop(name).close()
        with psycopg.connect(self._server.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        return False

    def empty(self, urls: DatabaseUrls) -> None:
        """Delete the rows of a database that services run on; keys and the jobs at work stay.

        Blocks as long as a service holds locks on them.
        """
        name = str(make_url(urls.owner[ACCESS]).database)
        mine = self._connection(name)
        while True:
            try:
                return self._delete_rows(mine, except_in_use=True)
            except psycopg.errors.DeadlockDetected:  # a worker locks in another order: once more
                continue

    def _delete_rows(self, mine: psycopg.Connection, *, except_in_use: bool = False) -> None:
        schemas = list(self._template.owner_urls)
        tables = [sql.Identifier(*row) for row in mine.execute(_TABLES, [schemas]).fetchall()]
        questions = [
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(number, table)
            for number, table in enumerate(tables)
        ]
        filled = mine.execute(sql.SQL(" UNION ALL ").join(questions)).fetchall()
        with mine.transaction():
            mine.execute("SET LOCAL session_replication_role = replica")  # foreign keys: all of it goes
            for (number,) in filled:
                in_use = _IN_USE.get(tables[number].as_string().rpartition(".")[2], "") if except_in_use else ""
                mine.execute(sql.SQL("DELETE FROM {} {}").format(tables[number], sql.SQL(in_use)))


def _hash_of_migrations() -> str:
    lineages = [ACCESS_LINEAGE, *map(load_lineage, API_NAMES)]
    digest = hashlib.sha256()
    for lineage in lineages:
        for revision in sorted(Path(lineage.revisions).rglob("*.py")):
            digest.update(revision.name.encode() + revision.read_bytes())
    return digest.hexdigest()[:12]


def _password(secret: str, login: str) -> str:
    return hmac.new(secret.encode(), login.encode(), "sha256").hexdigest()


def _in(database: str, url: str) -> str:
    return make_url(url).set(database=database).render_as_string(hide_password=False)
