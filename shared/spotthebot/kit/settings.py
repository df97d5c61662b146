"""The settings that services share, read from environment variables. A service adds its own fields and its prefix.

A secret may come from a file instead: a file with the setting's name in the folder `SPOTTHEBOT_SECRETS_DIR`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SecretsSettingsSource, SettingsConfigDict

from spotthebot.kit.errors import Invalid

SECRETS_DIR_VARIABLE = "SPOTTHEBOT_SECRETS_DIR"


class SecretsDirMissing(Invalid):
    """SPOTTHEBOT_SECRETS_DIR names {folder}: it must be a folder that this account can read."""


def secrets_dir() -> Path | None:
    """Return the folder of secrets; None if the environment variable is not set. Raises SecretsDirMissing."""
    named = os.environ.get(SECRETS_DIR_VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        raise SecretsDirMissing(folder=folder)
    return folder


def _are_networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        ip_network(text)
    return texts


Networks = Annotated[tuple[str, ...], AfterValidator(_are_networks)]
"""Networks such as `10.1.0.0/16`, as a JSON list."""


class SettingNotUsable(Invalid):
    """{setting} can't be used: {reason}."""


class EdgeSettings(BaseSettings):
    """The settings of every web application."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let an environment variable take precedence over a file of the same name."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, SecretsSettingsSource(settings_cls, secrets_dir=secrets_dir())

    @classmethod
    def variable(cls, field: str) -> str:
        """Return the name of a field's environment variable."""
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()

    @contextmanager
    def blamed(self, field: str) -> Iterator[None]:
        """Turn a ValueError or OSError in the block into SettingNotUsable for this field."""
        try:
            yield
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}"
            raise SettingNotUsable(setting=self.variable(field), reason=reason) from error
        except ValueError as error:
            raise SettingNotUsable(setting=self.variable(field), reason=str(error).rstrip(".")) from error

    def check(self) -> None:
        """Raise SettingNotUsable for a fault that shows only when a setting is used. Services add their own checks."""

    cors_origins: tuple[str, ...] = Field(
        default=(), description="Origins of browser frontends that may call this service, as a JSON list."
    )
    max_body_bytes: int = Field(
        default=1024 * 1024,
        ge=1024,
        description="Largest request body that is read, in bytes, where a route does not declare another limit.",
    )
    max_json_bytes_under_way: int = Field(
        default=256 * 1024 * 1024,
        ge=1024,
        description="Bytes of JSON that all requests to one process hold at once; beyond them a request gets 503, "
        "but for those of the suite's services.",
    )
    max_json_bytes_under_way_per_caller: int = Field(
        default=64 * 1024 * 1024,
        ge=1024,
        description="Bytes of JSON that the requests of one API key, or of one address without a key, hold at once; "
        "beyond them a request gets 429.",
    )
    max_connections_per_address: int = Field(
        default=1024,
        ge=0,
        description="Connections that one address may have to one process; 0: any number, as behind a reverse proxy.",
    )
    head_timeout_seconds: float = Field(
        default=10.0, gt=0, description="Time in which the head of a request has to arrive."
    )
    body_timeout_seconds: float = Field(
        default=20.0, gt=0, description="Time in which the body of a request has to arrive, and 1 s more for each KiB."
    )
    min_free_disk_mb: int = Field(
        default=64, ge=0, description="Free MiB of the disks it writes to below which a service is not ready."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="DEBUG, INFO, WARNING or ERROR."
    )
    request_log_lines_per_second: int = Field(
        default=50,
        ge=0,
        description="Log lines of requests a second, and as many of slow or failed ones; others are counted.",
    )


class ServiceSettings(EdgeSettings):
    """The settings of every service, read from the environment variables `SPOTTHEBOT_<SERVICE>_<FIELD>`."""

    database_url: SecretStr = Field(
        description="PostgreSQL URL of this service's role: DML only to serve, the owner's to migrate."
    )
    database_pool_size: int = Field(
        default=8,
        ge=1,
        le=200,
        description="Connections that one process keeps open to PostgreSQL, for reading and for writing each; "
        "up to four more are for look-ups.",
    )
    heartbeat_file: Path | None = Field(
        default=None, description="File that the worker touches every second while its event loop turns."
    )
    idempotency_key_hours: int = Field(
        default=24, ge=1, le=24 * 365, description="Hours for which a repeat of a request gets its stored answer."
    )
    service_key: SecretStr = Field(
        default=SecretStr(""), description="API key (role `service`) for calls to the other services."
    )
    failed_keys_per_minute: int = Field(
        default=60, ge=1, description="Requests without a valid API key that are answered 401 a minute; others get 429."
    )
    rate_limit_requests_per_minute: int = Field(
        default=6000, ge=1, description="Requests one API key may make a minute to one process."
    )
    frontend_rate_limit_requests_per_minute: int = Field(
        default=60_000,
        ge=1,
        description="Requests one API key of the role annotation may make a minute to one process: all annotators of a "
        "frontend share it.",
    )
    service_rate_limit_requests_per_minute: int = Field(
        default=120_000, ge=1, description="Requests another service of the suite may make a minute to one process."
    )


class JobSettings(ServiceSettings):
    """The settings of every service with jobs."""

    failed_job_retention_days: int = Field(
        default=30, ge=1, le=3650, description="Days that jobs which failed are kept for, then deleted."
    )
