"""Imports a service by name, for callers that need its code: migrations, the OpenAPI document, tests."""

from importlib import import_module
from typing import Any

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.service.process import Service


def load_service(name: str) -> Service[Any]:
    """Import a complete service and return its parts."""
    service: Service[Any] = import_module(f"spotthebot.{name}.app").SERVICE
    return service


def load_services() -> tuple[Service[Any], ...]:
    """Import all services, and return them in the order of their start."""
    return tuple(load_service(name) for name in SERVICE_NAMES)


def load_lineage(name: str) -> Lineage:
    """Return the migrations of a service's schema; imports only its tables."""
    lineage: Lineage = import_module(f"spotthebot.{name}.tables").LINEAGE
    return lineage
