"""Prepares the database for services in containers: its roles, its schemas and the suite's API keys.

The script `deploy/compose/setup.sh` makes all secrets beforehand, each in its own file. A service's container gets only
the secrets that it needs; this module gets all secrets.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

from psycopg.conninfo import conninfo_to_dict

from spotthebot.contracts.access import Role
from spotthebot.contracts.services import SCHEMAS
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.access.store import keep_key
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Invalid
from spotthebot.kit.service.process import migrate_access
from spotthebot.kit.settings import secrets_dir
from spotthebot.local.postgres.provision import ACCESS, logins, provision, url_with
from spotthebot.local.runtime.bootstrap import DATABASE_URL_VARIABLE, OWN_KEYS

ACCESS_URL: Final = "SPOTTHEBOT_ACCESS_DATABASE_URL"
"""The URL of the database of API keys with the login of its owner, who can make keys."""
_DATABASE = "spotthebot"


class SecretMissing(Invalid):
    """The secret {name} is missing: write it to {file}, or run deploy/compose/setup.sh, which makes what is missing."""


class NotTheRole(Invalid):
    """The secret {name} must be a PostgreSQL URL with a password for the role {role}, such as {example}."""


class NotAKeyOfRole(Invalid):
    """The secret {name} must be an API key of the role {role}, which begins with stb_{role}_."""


class KeyIsAnother(Invalid):
    """The key in {name} differs from the database's key with the same id: put the old file back, or make a new key."""


@dataclass(frozen=True)
class Deployment:
    """The secrets of a deployment: URLs with passwords, and API keys."""

    admin_url: str = field(repr=False)
    passwords: Mapping[str, str] = field(repr=False)
    """Passwords by login: `bots_owner`, `bots_app` and so on."""
    keys: Mapping[Role, tuple[UUID, str]] = field(repr=False)
    """The ids and secrets of the suite's own keys."""


def read_deployment(folder: Path) -> Deployment:
    """Read the secrets from a folder; raises SecretMissing, NotTheRole and NotAKeyOfRole."""
    urls = {login: _read(folder, _url_name(login)) for login in logins(SCHEMAS)}
    return Deployment(
        admin_url=_of_one_database(_read(folder, DATABASE_URL_VARIABLE)),
        passwords={login: _password(login, url) for login, url in urls.items()},
        keys={role: _key(role, _read(folder, _key_name(role))) for role in OWN_KEYS},
    )


def deployment_here() -> Deployment | None:
    """Return the deployment from the secrets in `SPOTTHEBOT_SECRETS_DIR`; None if there is no complete deployment.

    The administrator's URL in the environment overrides the file, because containers may know the server by another
    name. Raises the errors of `read_deployment`, and SecretsDirMissing.
    """
    folder = secrets_dir()
    if folder is None or not (folder / DATABASE_URL_VARIABLE).is_file():
        return None
    found = read_deployment(folder)
    given = os.environ.get(DATABASE_URL_VARIABLE)
    return replace(found, admin_url=_of_one_database(given)) if given else found


async def prepare_database(deployment: Deployment) -> None:
    """Create missing roles, schemas and API keys, and set the roles' passwords. A second call changes nothing.

    Raises the errors of `provision`, and KeyIsAnother.
    """
    access = provision(deployment.admin_url, _DATABASE, SCHEMAS, deployment.passwords).owner_urls[ACCESS]
    migrate_access(access)
    database = Database(access, pool_size=1)
    try:
        async with database.write() as session:
            for role, (key_id, secret) in deployment.keys.items():
                if not await keep_key(session, key_id, secret, role=role, note="the suite's own"):
                    raise KeyIsAnother(name=_key_name(role))
    finally:
        await database.close()


def access_url() -> str | None:
    """Return the URL of the database of API keys, from the environment or a secret's file; None if neither has it."""
    if given := os.environ.get(ACCESS_URL):
        return given
    folder = secrets_dir()
    file = folder / ACCESS_URL if folder else None
    return file.read_text().strip() if file and file.is_file() else None


def _of_one_database(url: str) -> str:
    """Return a URL that names an existing database.

    CloudNativePG's superuser URL has `*`, which means all databases.
    """
    of_all = unquote(urlsplit(url).path) == "/*"
    return url_with(url, database="postgres") if of_all else url


def _url_name(login: str) -> str:
    schema, _, kind = login.rpartition("_")
    owner = "OWNER_" if kind == "owner" and schema != ACCESS else ""
    return f"SPOTTHEBOT_{schema.upper()}_{owner}DATABASE_URL"


def _key_name(role: Role) -> str:
    return f"SPOTTHEBOT_{role.upper()}_KEY"


def _read(folder: Path, name: str) -> str:
    file = folder / name
    if not file.is_file() or not (text := file.read_text().strip()):
        raise SecretMissing(name=name, file=file)
    return text


def _password(login: str, url: str) -> str:
    role = f"{_DATABASE}_{login}"
    try:
        read = conninfo_to_dict(url)
    except Exception:  # noqa: BLE001 - psycopg's own would hold the password
        read = {}
    if read.get("user") != role or not read.get("password") or read.get("dbname") != _DATABASE:
        example = f"postgresql://{role}:PASSWORD@postgres/{_DATABASE}"
        raise NotTheRole(name=_url_name(login), role=role, example=example) from None
    return str(read["password"])


def _key(role: Role, text: str) -> tuple[UUID, str]:
    parsed = parse_key(text)
    if parsed is None or not text.startswith(f"stb_{role}_"):
        raise NotAKeyOfRole(name=_key_name(role), role=role)
    return parsed
