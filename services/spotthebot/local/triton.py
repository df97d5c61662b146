"""A supervised Triton server for development and tests, in a separate environment, on the CPU or a GPU."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from spotthebot.inference.errors import TritonNotHere
from spotthebot.inference.triton.installation import Installation, folders_of_shared_python, installation_of
from spotthebot.inference.triton.server import (
    EXIT_SECONDS,
    TritonAddresses,
    TritonPorts,
    addresses_of,
    clean_memory,
    free_ports,
    triton_command,
)
from spotthebot.kit.processes.spec import ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.local.environments import TRITON, EnvironmentNotMade, ensure

NAME = "triton"


def find_installation(environments: Path | None = None) -> Installation:
    """Return the server's installation, and make its environment below `environments` if it is missing.

    Raises TritonNotHere.
    """
    folders_of_shared_python()
    try:
        python = ensure(TRITON, environments)
    except EnvironmentNotMade as error:
        raise TritonNotHere(reason=error) from error
    return installation_of(python)


def triton_spec(installation: Installation, folder: Path, ports: TritonPorts, log_file: Path) -> ProcessSpec:
    """Prepare a server's files below a data folder, and return how a supervisor runs it.

    Raises TritonNotHere.
    """
    command = triton_command(installation, folder, ports)
    return ProcessSpec(
        name=NAME,
        argv=command.argv,
        log_file=log_file,
        env=command.env,
        ready_url=command.ready_url,
        start_timeout_seconds=60,
        stop_timeout_seconds=2 * EXIT_SECONDS,
    )


@asynccontextmanager
async def development_server(folder: Path, installation: Installation | None = None) -> AsyncIterator[TritonAddresses]:
    """Run a server on free ports during the block, with its files below `folder`; restart it when it dies.

    Raises TritonNotHere and ServiceDidNotStart.
    """
    installation = installation or find_installation()
    with clean_memory(folder), free_ports() as ports:
        spec = triton_spec(installation, folder, ports, folder / "triton" / "triton.log")
        async with Supervisor([spec]):
            yield addresses_of(folder, ports)
