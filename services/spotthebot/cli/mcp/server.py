"""A server of the Model Context Protocol whose tools are the services' operations, with the key of the caller."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatch
from importlib.metadata import version
from typing import Any, Final

import httpx
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from spotthebot.cli.errors import NoServiceForTools
from spotthebot.cli.mcp.operations import BODY, Operation, operations_of
from spotthebot.kit.access.keys import parse_key, role_of

_SECONDS: Final = 120
_LONGEST_ANSWER: Final = 60_000
"""Characters; a model reads no more, and every list has a `limit`."""
_INSTRUCTIONS: Final = (
    "Spot The Bot evaluates chatbots: bots talk to bots, people or programs label what they said, and the results rank"
    " the bots. The usual order with an operator's key: register_bot, create_collection, get_collection until it is"
    " complete, create_campaign, then annotations, then results such as ranking. With a team's key: register_bot,"
    " get_bot until it is active, list_conversations_of_bot while the operator collects, list_standings once results"
    " are released. Each tool is one operation of a REST API."
)


class Tools:
    """The tools of some services, by the role of the key that a caller has. The services check each call again."""

    def __init__(self, urls: Mapping[str, str], operations: Sequence[Operation], client: httpx.AsyncClient) -> None:
        self._urls, self._client = urls, client
        self._operations = {each.name: each for each in operations}

    @classmethod
    @asynccontextmanager
    async def of(cls, urls: Mapping[str, str], only: Sequence[str] = ()) -> AsyncIterator["Tools"]:
        """Read the documents of the services at some addresses; raises NoServiceForTools.

        With patterns in `only`, such as `get_*`, a tool's name must match one of them.
        """
        async with httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
            documents = {}
            for service, url in urls.items():
                try:
                    documents[service] = (await client.get(f"{url}/openapi.json")).raise_for_status().json()
                except (httpx.HTTPError, ValueError) as error:
                    raise NoServiceForTools(
                        service=service, url=url, reason=str(error) or type(error).__name__
                    ) from error
            found = operations_of(documents)
            yield cls(
                urls, [each for each in found if not only or any(fnmatch(each.name, own) for own in only)], client
            )

    def listed(self, key: str) -> list[types.Tool]:
        """Return the tools that a key's role may use."""
        role = role_of(key)
        return [
            types.Tool(name=each.name, description=each.description, input_schema=each.schema)
            for each in self._operations.values()
            if each.roles is None or role in each.roles
        ]

    async def call(self, key: str, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Return what an operation answers; a refusal is an error with its reason."""
        if (operation := self._operations.get(name)) is None:
            return _failed(f"There is no tool {name}.")
        if missing := operation.in_path - arguments.keys():
            return _failed(f"The call needs {', '.join(sorted(missing))}.")
        request = operation.request(arguments)
        content = None if BODY not in arguments else json.dumps(request.body).encode()
        try:
            answer = await self._client.request(
                request.method,
                f"{self._urls[operation.service]}{request.path}",
                params={each: value for each, value in request.query.items() if value is not None},
                content=content,
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
        except httpx.HTTPError as error:
            return _failed(f"{operation.service} did not answer: {str(error) or type(error).__name__}.")
        return _result(answer)


def make_server(tools: Tools, key: str | None) -> Server[dict[str, Any]]:
    """Return a server. Without a key, each request has its own, as a bearer token."""

    def key_of(context: ServerRequestContext[Any, Request]) -> str:
        return key or _bearer(context.request.headers if context.request is not None else {})

    async def list_tools(
        context: ServerRequestContext[Any, Request], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools.listed(key_of(context)))

    async def call_tool(
        context: ServerRequestContext[Any, Request], call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await tools.call(key_of(context), call.name, call.arguments or {})

    return Server(
        "spotthebot",
        version=version("spotthebot"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(tools: Tools, key: str) -> None:
    """Serve the process that started this one, until it closes our standard input."""
    server = make_server(tools, key)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def http_app(tools: Tools) -> Starlette:
    """Return an application that serves `/mcp` to callers on this machine; each request needs an API key."""
    app = make_server(tools, None).streamable_http_app(stateless_http=True, json_response=True)
    app.add_middleware(_KeysAlone)
    return app


class _KeysAlone:
    """Refuses requests without something that has the form of an API key; the services know which keys are real."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and parse_key(_bearer(Request(scope).headers)) is None:
            refused: Response = JSONResponse(
                {"title": "Unauthenticated", "status": 401, "detail": "Send an API key: Authorization: Bearer stb_..."},
                status_code=401,
                media_type="application/problem+json",
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _result(answer: httpx.Response) -> types.CallToolResult:
    text = answer.text or "done"
    if answer.is_success:
        if len(text) > _LONGEST_ANSWER:
            return _failed(
                f"The answer has more than {_LONGEST_ANSWER} characters: ask for less, with limit or a filter."
            )
        return types.CallToolResult(content=[types.TextContent(text=text)])
    return _failed(f"{answer.status_code}: {text[:_LONGEST_ANSWER]}")


def _failed(reason: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=reason)], is_error=True)
