"""The checks before a service starts, so that it never runs with a wrong configuration.

A wrong setting ends the process with one sentence and exit code 78 (EX_CONFIG of sysexits.h), since only a person can
correct it. If the database does not answer or is not migrated yet, the service starts, but is not ready until it is.
"""

import re
from typing import Final

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from spotthebot.kit.migrations.lineage import Lineage, NewerDatabase, read_state
from spotthebot.kit.outbound.errors import UrlNotUsable
from spotthebot.kit.outbound.urls import HTTP, read_url
from spotthebot.kit.settings import EdgeSettings, ServiceSettings, SettingNotUsable
from spotthebot.kit.telemetry.logs import get_logger

CONFIGURATION_FAULT: Final = 78
_POSTGRESQL: Final = frozenset({"postgresql", "postgres"})
_log = get_logger(__name__)
_REFUSALS: Final = {
    r"password authentication failed|no password supplied": "correct its password",
    r"role \".*\" does not exist": "correct its user, or make the logins first",
    r"database \".*\" does not exist": "correct its database, or make it first",
    r"no pg_hba.conf entry|permission denied for database": "let this login in, or correct it",
    r"certificate verify failed|certificate has expired|server certificate for": "renew the server's certificate, or "
    "correct sslrootcert",
    r"root certificate file|private key file": "correct sslrootcert, sslcert and sslkey",
    r"does not support SSL": "correct sslmode, or turn TLS on in the server",
    r"invalid (sslmode|connection option|port|URI)|URI query parameter": "correct it",
}
"""Messages of libpq about a login or an encryption that waiting does not correct, each with the correction."""


def check_settings(settings: EdgeSettings, lineage: Lineage | None) -> None:
    """Raise SettingNotUsable or NewerDatabase for a configuration that the service can't work with."""
    _check_addresses(settings)
    settings.check()
    if isinstance(settings, ServiceSettings):
        _check_service_key(settings)
        if lineage is not None:
            _check_database(settings, lineage)


def _check_addresses(settings: EdgeSettings) -> None:
    """Raise SettingNotUsable for an address of a service, of the pages or of a provider that is not a URL."""
    for name, field in type(settings).model_fields.items():
        address = getattr(settings, name)
        if name.endswith(("_url", "_issuer")) and isinstance(address, str) and address != field.default:
            try:
                read_url(address, HTTP)
            except UrlNotUsable as error:
                raise SettingNotUsable(setting=settings.variable(name), reason=error.facts["reason"]) from error


def _check_service_key(settings: ServiceSettings) -> None:
    """Raise SettingNotUsable if a service that calls other services has no service key: they would refuse its calls."""
    peers = [name for name in type(settings).model_fields if name.endswith("_url") and name != "database_url"]
    if peers and not settings.service_key.get_secret_value():
        reason = "it is missing, and this service calls others with it: make one, ./stb keys create --role service"
        raise SettingNotUsable(setting=settings.variable("service_key"), reason=reason)


def require_database_url(settings: ServiceSettings) -> None:
    """Raise SettingNotUsable if the database's URL is not a PostgreSQL URL."""
    try:
        kind = make_url(settings.database_url.get_secret_value()).get_backend_name()
    except ArgumentError:
        kind = None
    if kind not in _POSTGRESQL:
        reason = "it must be a URL such as postgresql://user:password@host:5432/database"
        raise SettingNotUsable(setting=settings.variable("database_url"), reason=reason)


def _check_database(settings: ServiceSettings, lineage: Lineage) -> None:
    variable = settings.variable("database_url")
    require_database_url(settings)
    try:
        state = read_state(lineage.schema, settings.database_url.get_secret_value())
    except OperationalError as error:
        reason = " ".join(str(error.orig).split()).rstrip(".")
        for refusal, advice in _REFUSALS.items():
            if re.search(refusal, reason):
                raise SettingNotUsable(setting=variable, reason=f"{reason}: {advice}") from error
        _log.warning("database.not_there_yet", setting=variable, reason=reason)
        return
    if lineage.is_newer(state) and not lineage.works_with(state):
        raise NewerDatabase(schema=lineage.schema, found=state.revision, needed=lineage.head)
