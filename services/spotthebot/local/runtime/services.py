"""Imports a service by its name, only where its code itself is needed: for its migrations, its document, the tests."""

from importlib import import_module
from typing import Any

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.migrations import Lineage
from spotthebot.kit.service.process import Service


def load_service(name: str) -> Service[Any]:
    """Import a service whole and return what it is made of."""
    service: Service[Any] = import_module(f"spotthebot.{name}.app").SERVICE
    return service


def load_services() -> tuple[Service[Any], ...]:
    """Import all services, in the order of their start."""
    return tuple(load_service(name) for name in SERVICE_NAMES)


def load_lineage(name: str) -> Lineage:
    """Return the migrations of a service's schema; imports its tables and nothing else of it."""
    lineage: Lineage = import_module(f"spotthebot.{name}.tables").LINEAGE
    return lineage
