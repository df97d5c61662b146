"""The environment that the suite gives to one service: its database, its key, the addresses of the others."""

import os
from collections.abc import Mapping

from spotthebot.contracts.services import ServiceEntry
from spotthebot.suite.runtime.bootstrap import DATABASE_URL_VARIABLE, Bootstrap
from spotthebot.suite.runtime.local_settings import LocalSettings


def service_environment(
    service: ServiceEntry, prepared: Bootstrap, urls: Mapping[str, str], local: LocalSettings
) -> dict[str, str]:
    """Return the variables that the suite sets for a service; they hold secrets."""
    prefix = service.environment_prefix
    return {
        **{f"{prefix}{other.upper()}_URL": urls[other] for other in service.calls},
        f"{prefix}DATABASE_URL": prepared.urls.app_urls[service.schema],
        f"{prefix}SERVICE_KEY": prepared.keys["service"],
        **{name: value for name, value in local.environment.items() if name.startswith(prefix)},
    }


def inherited_environment() -> dict[str, str]:
    """Return our own environment without the address of the database's superuser."""
    return {name: value for name, value in os.environ.items() if name != DATABASE_URL_VARIABLE}
