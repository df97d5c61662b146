"""Running services behind one address with a path for each, as a reverse proxy has them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import uvicorn

from spotthebot.kit.processes.sockets import bind
from tests.factories.running_suite import RunningSuite, serve_all


@asynccontextmanager
async def one_address(suite: RunningSuite) -> AsyncIterator[str]:
    """Serve all services of a suite at `http://127.0.0.1:PORT/NAME` while the block lasts; else it is 404, as HTML."""

    async def pass_on(scope: Any, receive: Any, send: Any) -> None:
        _, name, *rest = scope["path"].split("/")
        path = f"/{'/'.join(rest)}"
        app: Any = suite.apps.get(name, _not_found)
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    with closing(bind("127.0.0.1", 0)) as sock:
        config = uvicorn.Config(pass_on, lifespan="off", log_config=None, access_log=False)
        async with serve_all([(config, sock)]):
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"


async def _not_found(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"<h1>Not Found</h1>"})
