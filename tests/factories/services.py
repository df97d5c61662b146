"""All services, imported whole, in the order of their start."""

from spotthebot.suite.runtime.services import load_services

SERVICES = load_services()
