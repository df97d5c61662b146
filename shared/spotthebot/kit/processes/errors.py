"""Errors at the start of processes."""

from spotthebot.kit.errors import Conflict, Invalid, Unavailable


class ServiceDidNotStart(Unavailable):
    """The service {name} did not start ({reason}), and its last lines were '{lines}'."""


class PortTaken(Conflict):
    """Port {port} is taken{holder}: choose another with --port-base."""


class CannotListen(Invalid):
    """No service can listen on {host}, port {port} ({reason}): choose another address."""
