"""Settings of services on one machine: folders, encryption keys, allowed networks, Triton on request."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from spotthebot.contracts.services import get_service
from spotthebot.inference.triton.server import addresses_of, clean_memory, free_ports
from spotthebot.kit.processes.spec import ProcessSpec
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.triton import find_installation, triton_spec

_PREFIX = "SPOTTHEBOT_BOTS_"
_SENDERS = ("conversations", "annotation", "fed")
"""The services that send events."""
_NETWORKS = ("ALLOWED_NETWORKS", "OPERATOR_NETWORKS")
_LOOPBACK = '["127.0.0.0/8", "::1/128"]'


@dataclass(frozen=True)
class LocalSettings:
    """Environment variables for the services, and the processes to start before them."""

    environment: Mapping[str, str]
    before: tuple[ProcessSpec, ...] = ()

    @property
    def local_bots(self) -> str | None:
        """A phrase for the API keys that may register bots at loopback addresses of this machine; None for no keys."""
        allowed = {name: self.environment.get(f"{_PREFIX}{name}") == _LOOPBACK for name in _NETWORKS}
        if allowed["ALLOWED_NETWORKS"]:
            return "any key of the role admin or team"
        return "a key of the role admin (with --allow-local-bots also team)" if allowed["OPERATOR_NETWORKS"] else None


@contextmanager
def local_settings(
    folder: DataFolder, *, triton: bool = False, allow_local_bots: bool = False
) -> Iterator[LocalSettings]:
    """Yield the settings for this data folder; `triton` adds a Triton server. Raises TritonNotHere.

    The operator's bots and subscribers may have addresses on this machine. Teams' bots and subscribers may have such
    addresses only with `allow_local_bots`.
    """
    for_teams = _LOOPBACK if allow_local_bots else "[]"
    own = {
        f"{_PREFIX}ALLOWED_NETWORKS": for_teams,
        f"{_PREFIX}OPERATOR_NETWORKS": _LOOPBACK,
        f"{_PREFIX}SECRETS_KEY_FILE": str(folder.path / "bots-secrets.key"),
        f"{_PREFIX}MODELS_FOLDER": str(folder.path / "models"),
        f"{get_service('fed').environment_prefix}MODELS_FOLDER": str(folder.path / "models"),
        f"{get_service('web').environment_prefix}SESSIONS_KEY_FILE": str(folder.path / "web-sessions.key"),
    }
    for service in _SENDERS:
        prefix = get_service(service).environment_prefix
        own |= {
            f"{prefix}ALLOWED_NETWORKS": for_teams,
            f"{prefix}OPERATOR_NETWORKS": _LOOPBACK,
            f"{prefix}SECRETS_KEY_FILE": str(folder.path / f"{service}-secrets.key"),
        }
    given = {name: os.environ[name] for name in own if name in os.environ}
    (folder.path / "models").mkdir(mode=0o700, exist_ok=True)
    if not triton:
        yield LocalSettings(own | given)
        return
    installation = find_installation()
    with clean_memory(folder.path), free_ports() as ports:
        addresses = addresses_of(folder.path, ports)
        spec = triton_spec(installation, folder.path, ports, folder.logs / "triton.log")
        served = {
            f"{_PREFIX}TRITON_GRPC": addresses.grpc,
            f"{_PREFIX}TRITON_HTTP": addresses.http,
            f"{_PREFIX}TRITON_REPOSITORY": str(addresses.repository),
        }
        yield LocalSettings(own | given | served, (spec,))
