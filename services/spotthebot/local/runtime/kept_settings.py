"""Settings that last: `settings.env` in the data folder has environment variables, as env files of containers do."""

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spotthebot.contracts.services import SERVICES, ServiceEntry
from spotthebot.kit.text.names import suggestion
from spotthebot.local.errors import SettingsFileNotUsable

if TYPE_CHECKING:
    # pydantic-settings imports asyncio, which commands that ask no service do without.
    from spotthebot.kit.settings import EdgeSettings

SETTINGS_FILE: Final = "settings.env"
SUITE: Final = (
    "SPOTTHEBOT_ACCESS_DATABASE_URL",
    "SPOTTHEBOT_DATABASE_URL",
    "SPOTTHEBOT_DATA_DIR",
    "SPOTTHEBOT_ENVIRONMENTS",
    "SPOTTHEBOT_FRONTEND_KEY",
    "SPOTTHEBOT_KEY",
    "SPOTTHEBOT_LIKELIHOOD_MAX_LOGIT_BYTES",
    "SPOTTHEBOT_LIKELIHOOD_MAX_TOKENS_PER_PASS",
    "SPOTTHEBOT_POSTGRES_HOME",
    "SPOTTHEBOT_SECRETS_DIR",
    "SPOTTHEBOT_URL",
)
"""The variables that no service's settings define, as docs/settings.md lists them."""
_OF_ALL_SERVICES: Final = ("FORWARDED_ALLOW_IPS", "OTEL_", "SPOTTHEBOT_LIKELIHOOD_", "SPOTTHEBOT_SECRETS_DIR")
_WRITABLE_BY_OTHERS: Final = 0o022


def load_settings(folder: Path) -> None:
    """Add the variables of a data folder's `settings.env` to the environment, except those that it has already.

    A line is NAME=value, a comment behind `#`, or empty. Quotes around a value do not belong to it. Raises
    SettingsFileNotUsable for another line, and for a file that another user may have written.
    """
    path = folder / SETTINGS_FILE
    if path.exists():
        for name, value, _ in _read(path):
            os.environ.setdefault(name, value)


def _read(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield the name, the value and the number of each line."""
    from dotenv.parser import parse_stream  # noqa: PLC0415 - most folders have no such file

    try:
        with path.open(encoding="utf-8") as file:
            is_ours = os.fstat(file.fileno()).st_uid in {0, os.geteuid()}
            if not is_ours or os.fstat(file.fileno()).st_mode & _WRITABLE_BY_OTHERS:
                raise SettingsFileNotUsable(path=path, reason="others can write it: make it yours, and `chmod 600` it")
            for line in parse_stream(file):
                text = line.original.string
                number = line.original.line + len(text) - len(text.lstrip("\n"))
                if line.error or (line.key is not None and line.value is None):
                    reason = f"line {number} is not NAME=value"
                    raise SettingsFileNotUsable(path=path, reason=reason)
                if line.key is not None and line.value is not None:
                    yield line.key, line.value, number
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsFileNotUsable(path=path, reason=error) from error


def given_settings(service: ServiceEntry) -> dict[str, str]:
    """Return the variables of the environment that are settings of this service or of all services."""
    ours = (service.environment_prefix, *_OF_ALL_SERVICES)
    return {name: value for name, value in os.environ.items() if name.startswith(ours)}


def unknown_settings(names: Iterable[str], folder: Path) -> list[str]:
    """Return a sentence for each name that begins as a setting and is none.

    It names the line of the folder's `settings.env`, or the environment, and the nearest setting.
    """
    path = folder / SETTINGS_FILE
    places = {name: f"{path}, line {number}" for name, _, number in _read(path)} if path.exists() else {}
    asked = [name for name in sorted(names) if name.startswith("SPOTTHEBOT_") and name not in SUITE]
    known = [name for service in SERVICES for name in _names_of(service)] if asked else []
    return [
        f"{name} ({places.get(name, 'of the environment')}) is no setting: {suggestion(name, known)}."
        for name in asked
        if name not in known
    ]


def _names_of(service: ServiceEntry) -> list[str]:
    """Return the variables of a service; imports nothing of it but its settings."""
    kind: type[EdgeSettings] = getattr(
        import_module(f"{service.package}.settings"), f"{service.name.capitalize()}Settings"
    )
    return [kind.variable(field) for field in kind.model_fields]
