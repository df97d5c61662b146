"""`stb mcp`: the services as tools of a model client."""

import asyncio
from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Annotated

import typer

from spotthebot.cli.commands.service_options import reads_services
from spotthebot.contracts.services import API_NAMES
from spotthebot.local.progress import say
from spotthebot.local.runtime.data_folder import KEY_OF_ADMIN, DataFolder
from spotthebot.local.runtime.session import Services, Session, connect, open_session


@reads_services
def mcp(
    services: Services,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", help="Serve http://127.0.0.1:PORT/mcp; each caller sends its own key."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Names of tools to offer, such as 'get_*'; may be repeated.")
    ] = None,
) -> None:
    """Serve the services' operations as tools of the Model Context Protocol, over standard input and output."""
    key = services.key or services.secret(KEY_OF_ADMIN) if isinstance(services, DataFolder) else services.key
    with open_session(services) as session:
        asyncio.run(_serve(session, key, http, only or ()))


async def _serve(session: Session, key: str, port: int | None, only: Sequence[str]) -> None:
    # Their packages take a second to import, and no other command needs them.
    import uvicorn  # noqa: PLC0415 - as above

    from spotthebot.cli.mcp.server import Tools, http_app, serve_stdio  # noqa: PLC0415 - as above

    async with connect(session) as clients, Tools.of({each: clients.urls[each] for each in API_NAMES}, only) as tools:
        if port is None:
            for pattern in only:
                if not any(fnmatch(each.name, pattern) for each in tools.listed(key)):
                    say(f"--only {pattern}: your key's role has no such tool.")
            await serve_stdio(tools, key)
            return
        say(f"Tools: http://127.0.0.1:{port}/mcp")
        await uvicorn.Server(uvicorn.Config(http_app(tools), host="127.0.0.1", port=port, log_level="warning")).serve()
