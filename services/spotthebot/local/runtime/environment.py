"""The environment of one service: its database, its key, the addresses of the other services."""

import os
from collections.abc import Mapping

from spotthebot.contracts.services import ServiceEntry
from spotthebot.local.runtime.bootstrap import DATABASE_URL_VARIABLE, Bootstrap
from spotthebot.local.runtime.local_settings import LocalSettings


def service_environment(
    service: ServiceEntry, prepared: Bootstrap, urls: Mapping[str, str], local: LocalSettings
) -> dict[str, str]:
    """Return the variables that the suite sets for a service; the values include secrets."""
    prefix = service.environment_prefix
    return {
        **{f"{prefix}{other.upper()}_URL": urls[other] for other in service.calls},
        **_access(service, prefix, prepared),
        **{name: value for name, value in local.environment.items() if name.startswith(prefix)},
    }


def _access(service: ServiceEntry, prefix: str, prepared: Bootstrap) -> dict[str, str]:
    """Return the variables with a service's database URL and keys; a service without data gets a frontend's key."""
    if service.schema is None:
        return {f"{prefix}ANNOTATION_KEY": prepared.keys["annotation"]}
    return {
        f"{prefix}DATABASE_URL": prepared.urls.app_urls[service.schema],
        f"{prefix}SERVICE_KEY": prepared.keys["service"],
    }


def inherited_environment() -> dict[str, str]:
    """Return the environment of this process, without the URL of the database's superuser."""
    return {name: value for name, value in os.environ.items() if name != DATABASE_URL_VARIABLE}
