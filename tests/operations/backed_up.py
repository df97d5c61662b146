"""A suite with data, a backup of it, and another place for what is restored."""

import json
import secrets
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from cryptography.fernet import Fernet
from psycopg import sql
from sqlalchemy.engine import make_url

from spotthebot.contracts.services import SCHEMAS
from spotthebot.local.postgres.provision import logins
from spotthebot.local.progress import Steps, showing_progress
from spotthebot.operations.backups.creation import BackupContents, create_backup
from spotthebot.operations.backups.restoration import checked_backup, restore_backup
from tests.factories.databases import Databases, DatabaseUrls, PostgresServer
from tests.factories.stored_campaigns import fill_campaign

KEY_OF_BOTS = Fernet.generate_key().decode()
_PASSWORDS = dict.fromkeys(logins(SCHEMAS), "x")


@dataclass(frozen=True)
class Suite:
    """A database that was lent, with rows in it, and the settings of services that name files."""

    admin_url: str
    database: str
    environment: Mapping[str, str]
    urls: DatabaseUrls

    @property
    def url(self) -> str:
        return make_url(self.admin_url).set(database=self.database).render_as_string(hide_password=False)

    def back_up(self, path: Path, *, with_keys: bool = True, steps: Steps | None = None) -> BackupContents:
        with showing_progress() as shown:
            return create_backup(
                path, self.admin_url, self.database, self.environment, steps or shown, with_keys=with_keys
            )


@dataclass(frozen=True)
class Place:
    """Where a backup is restored: a database that is there or not yet, and folders."""

    admin_url: str
    name: str
    environment: Mapping[str, str]

    @property
    def url(self) -> str:
        return make_url(self.admin_url).set(database=self.name).render_as_string(hide_password=False)

    @property
    def exists(self) -> bool:
        with psycopg.connect(self.admin_url) as admin:
            found = admin.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{self.name}%"])
            return [name for (name,) in found.fetchall()] == [self.name]

    def restore(self, path: Path, *, replace: bool = False, partial: bool = False) -> BackupContents:
        with showing_progress() as steps, checked_backup(path, steps, partial=partial) as backup:
            return restore_backup(
                backup, self.admin_url, self.name, self.environment, steps, passwords=_PASSWORDS, replace=replace
            )


@contextmanager
def filled_suite(databases: Databases, cluster: PostgresServer, folder: Path) -> Iterator[Suite]:
    """Lend a database with rows, and write files of models and a key."""
    environment = settings_in(folder)
    models = Path(environment["SPOTTHEBOT_BOTS_MODELS_FOLDER"])
    (models / "small").mkdir()
    (models / "small" / "model.safetensors").write_bytes(secrets.token_bytes(3_000_000))
    (models / "small" / "config.json").write_text("{}")
    (models / ".upload-1").write_text("half of a model")
    Path(environment["SPOTTHEBOT_BOTS_SECRETS_KEY_FILE"]).write_text(KEY_OF_BOTS)
    with databases.lend() as urls:
        fill_campaign(urls.owner["annotation"], packages=3, size=2)
        yield Suite(cluster.admin_url, str(make_url(urls.owner["bots"]).database), environment, urls)


@contextmanager
def another_place(cluster: PostgresServer, folder: Path) -> Iterator[Place]:
    """Lend a name for a database, which is dropped afterwards."""
    made = Place(cluster.admin_url, f"restored_{secrets.token_hex(4)}", settings_in(folder))
    yield made
    _drop(made)


def settings_in(folder: Path) -> dict[str, str]:
    (folder / "models").mkdir(parents=True)
    return {
        "SPOTTHEBOT_BOTS_MODELS_FOLDER": str(folder / "models"),
        "SPOTTHEBOT_FED_MODELS_FOLDER": str(folder / "models"),
        "SPOTTHEBOT_BOTS_SECRETS_KEY_FILE": str(folder / "bots-secrets.key"),
        "SPOTTHEBOT_WEB_SESSIONS_KEY_FILE": str(folder / "web-sessions.key"),
    }


def _drop(place: Place) -> None:
    with psycopg.connect(place.admin_url, autocommit=True) as admin:
        for name in (place.name, f"{place.name}_restoring", f"{place.name}_replaced"):
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def changed(backup: Path, path: Path, change: Callable[[dict[str, Any]], None]) -> Iterator[Path]:
    """Copy a backup with another manifest."""
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(path, "w") as target:
        for info in source.infolist():
            content = source.read(info)
            if info.filename == "manifest.json":
                manifest = json.loads(content)
                change(manifest)
                content = json.dumps(manifest).encode()
            target.writestr(info, content)
    yield path
