"""What a service imports before it serves, beside the web edge and the database that all of them stand on."""

from benchmarks.bots.measurement import Measurement
from benchmarks.suite.processor_time import REPEATS, processor_seconds
from spotthebot.contracts.services import SERVICES

_EDGE = "import fastapi, uvicorn, sqlalchemy.ext.asyncio, psycopg, alembic, httpx, pydantic_settings"

_REPEATS = REPEATS
TOY = {"_REPEATS": 0, "SERVICES": SERVICES[:1], "_EDGE": "import httpx"}


def measure() -> list[Measurement]:
    """Measure each service's start up to the moment it would bind its socket."""
    edge = processor_seconds("-c", _EDGE, repeats=_REPEATS)
    return [_row(service.name, service.package, edge) for service in SERVICES]


def _row(name: str, package: str, edge: float) -> Measurement:
    seconds = processor_seconds("-c", f"import {package}.app", repeats=_REPEATS)
    compared = f"FastAPI, uvicorn, SQLAlchemy, psycopg, Alembic and httpx alone: {edge:.2f} s"
    return Measurement(f"start of `{name}`", f"{seconds:.2f} s", compared, f"{seconds / edge:.2f} x")
