"""Moves one schema to its newest revision, and checks whether the tables in code match the revisions.

Every process of a service imports this module with its tables. Only the functions that migrate import Alembic.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import MetaData, NullPool, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.errors import Unavailable

if TYPE_CHECKING:
    from alembic.config import Config

_ENVIRONMENT = Path(__file__).parent
_CONNECT_SECONDS = 5
_STATE = "SELECT obj_description(to_regclass(:name), 'pg_class'), to_regclass(:name) IS NOT NULL"
_REVISION = "SELECT version_num FROM {name}"


class NewerDatabase(Unavailable):
    """The schema {schema} is at {found}, which this release ({needed}) lacks: start a newer one or one before 0.2.0."""


class MigrationFailed(Unavailable):
    """The migration of the schema {schema} to {needed} failed, and it stays at {found}: {reason}"""  # noqa: D400 - as the reason


@dataclass(frozen=True)
class SchemaState:
    """The revision of a schema; None if the schema was never migrated.

    A release works with the schema if the release's newest revision is `oldest_head` or later. `oldest_head` is None if
    the database names none.
    """

    revision: str | None
    oldest_head: str | None


@dataclass(frozen=True)
class Lineage:
    """A schema, its tables in code, and the folder of its revisions."""

    schema: str
    metadata: MetaData
    revisions: Path

    def config(self, url: str) -> "Config":
        from alembic.config import Config  # noqa: PLC0415 - see the module

        config = Config()
        config.set_main_option("script_location", str(_ENVIRONMENT))
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", str(self.revisions))
        config.attributes["lineage"] = self
        config.attributes["url"] = _sync(url)
        return config

    @cached_property
    def head(self) -> str:
        """Return the newest revision.

        Only the names of the files are read, since every service does this when it starts.
        """
        if not self.known:
            message = f"no revisions in {self.revisions}"
            raise LookupError(message)
        return max(self.known)

    @cached_property
    def known(self) -> frozenset[str]:
        """Return all revisions of this release. Only the names of the files are read."""
        name = re.compile(rf"({re.escape(self.schema)}_\d{{4}})_(?:pre|post)_\w+\.py")
        return frozenset(match[1] for file in self.revisions.iterdir() if (match := name.fullmatch(file.name)))

    def is_newer(self, state: SchemaState) -> bool:
        """Return whether a newer release has migrated the schema."""
        return state.revision is not None and state.revision not in self.known

    def works_with(self, state: SchemaState) -> bool:
        """Return whether this release works with the schema.

        It does if the schema is at the head, or if a newer release migrated the schema and still allows this release.
        """
        if self.is_newer(state):
            return state.oldest_head is not None and state.oldest_head <= self.head
        return state.revision == self.head


def upgrade(lineage: Lineage, owner_url: str) -> None:
    """Migrate the schema to its head. Several processes may call this at once: an advisory lock queues them.

    If a newer release has migrated the schema and this release works with it, the schema stays unchanged. Raises
    NewerDatabase and MigrationFailed; in both cases the schema is unchanged.
    """
    from alembic import command  # noqa: PLC0415 - see the module

    config = lineage.config(owner_url)
    config.attributes["upgrades"] = True
    try:
        command.upgrade(config, "head")
    except Exception as error:  # a revision may fail in any way
        try:
            state = read_state(lineage.schema, owner_url)
        except SQLAlchemyError:
            raise error from None
        if lineage.is_newer(state):
            if lineage.works_with(state):
                return
            raise NewerDatabase(schema=lineage.schema, found=state.revision, needed=lineage.head) from error
        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        raise MigrationFailed(
            schema=lineage.schema, found=state.revision or "none", needed=lineage.head, reason=reason
        ) from error


def read_state(schema: str, url: str) -> SchemaState:
    """Return the revision of a schema; raises SQLAlchemy's OperationalError if the database does not answer."""
    name = f'"{schema}".alembic_version'
    engine = create_engine(_sync(url), poolclass=NullPool, connect_args={"connect_timeout": _CONNECT_SECONDS})
    with engine.connect() as connection:
        oldest_head, exists = connection.execute(text(_STATE), {"name": name}).one()
        if not exists:
            return SchemaState(None, None)
        return SchemaState(connection.scalar(text(_REVISION.format(name=name))), oldest_head)


def check_drift(lineage: Lineage, owner_url: str) -> None:
    """Raise `alembic.util.AutogenerateDiffsDetected` if the tables in code differ from the tables in the database."""
    from alembic import command  # noqa: PLC0415 - see the module

    command.check(lineage.config(owner_url))


async def state_of(session: ReadSession, schema: str) -> SchemaState:
    """Return the revision of a schema."""
    name = f'"{schema}".alembic_version'
    oldest_head, exists = (await session.execute(text(_STATE), {"name": name})).one()
    if not exists:
        return SchemaState(None, None)
    return SchemaState(await session.scalar(text(_REVISION.format(name=name))), oldest_head)


def _sync(url: str) -> URL:
    return make_url(url).set(drivername="postgresql+psycopg")
