"""The typed clients and the committed OpenAPI documents name the same operations, parameters, bodies and answers."""

import json
import re
import subprocess
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getmembers, signature
from pathlib import Path
from typing import Annotated, Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

import pytest
from pydantic import BaseModel, RootModel

from spotthebot import clients
from spotthebot.clients.operations import Call, Listing, Operation, operation
from spotthebot.clients.streams import Download, Events, Ndjson
from spotthebot.contracts.services import API_NAMES

ROOT = Path(__file__).parents[2]
CLIENTS = [clients.Bots, clients.Conversations, clients.Annotation, clients.Analytics, clients.Fed]
ASYNC_CLIENTS = [
    clients.AsyncBots,
    clients.AsyncConversations,
    clients.AsyncAnnotation,
    clients.AsyncAnalytics,
    clients.AsyncFed,
]
EVERY = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.peer)


@dataclass(frozen=True)
class Documented:
    """An operation of an OpenAPI document."""

    method: str
    path: str
    query: frozenset[str]
    headers: frozenset[str]
    body: frozenset[str]
    answers: Mapping[str, frozenset[str]]


def test_every_service_has_a_client_of_each_kind():
    assert {client.peer for client in CLIENTS} == set(API_NAMES)
    assert [client.peer for client in ASYNC_CLIENTS] == [client.peer for client in CLIENTS]
    for blocking, asynchronous in zip(CLIENTS, ASYNC_CLIENTS, strict=True):
        assert asynchronous.__name__ == f"Async{blocking.__name__}"
        assert _methods(blocking) == _methods(asynchronous)


@EVERY
class TestOperations:
    def test_have_a_method_of_their_name(self, client: type[clients.Bots]):
        documented = _documented(client.peer)
        assert len(documented) > 10
        assert set(_methods(client)) == set(documented)

    def test_have_the_methods_path_parameters_and_headers(self, client: type[clients.Bots]):
        documented = _documented(client.peer)
        for name, method in _methods(client).items():
            found, expected = _described(method).request, documented[name]
            assert (found.method, found.path) == (expected.method, expected.path), name
            assert {header.lower() for header in found.headers} == expected.headers, name
            assert set(found.params) == expected.query, name

    def test_have_the_methods_bodies(self, client: type[clients.Bots]):
        for name, method in _methods(client).items():
            expected = _documented(client.peer)[name].body
            found = _described(method).request
            if found.content is not None:
                assert expected == {"application/octet-stream"}, name
            elif isinstance(found.body, BaseModel):
                assert {kind.__name__ for kind in _bodies(method)} == expected, name
            else:
                assert (found.body is None) == (not expected), name

    def test_have_the_methods_answers(self, client: type[clients.Bots]):
        for name, method in _methods(client).items():
            answers = _documented(client.peer)[name].answers
            match _described(method):
                case Listing(items=items):
                    assert answers["application/json"] == {f"Page_{items.__name__}_"}, name
                case Call(returns=types.NoneType) | Ndjson():
                    assert answers == {}, name
                case Call(returns=returns) if returns in {str, bytes}:
                    assert "application/json" not in answers, name
                case Call(returns=returns) if get_origin(returns) is dict:
                    assert client.peer == "bots", name
                    assert "openai" in name or name == "create_chat_completion"
                case Call(returns=returns):
                    assert answers["application/json"] == {returns.__name__}, name
                case Events():
                    assert set(answers) == {"text/event-stream"}, name
                case Download():
                    assert len(answers) > 1, name
                case other:
                    pytest.fail(f"{name}: {other}")

    def test_say_what_they_do(self, client: type[clients.Bots]):
        assert [name for name, method in _methods(client).items() if not method.__doc__] == []


class TestImports:
    @pytest.mark.parametrize(
        ("program", "unneeded"),
        [
            ("import spotthebot.clients", ("httpx", "pydantic", "spotthebot.contracts")),
            ("from spotthebot.clients import PeerRefused", ("httpx", "pydantic", "spotthebot.contracts")),
            ("from spotthebot.clients import AsyncBots", ("httpx", "spotthebot.contracts.annotation.campaigns")),
            ("from spotthebot.clients import Analytics", ("httpx", "spotthebot.contracts.bots")),
            ("from spotthebot.clients import Bots; Bots('http://bots.example', 'key')", ("fastapi", "sqlalchemy")),
        ],
    )
    def test_bring_only_what_is_used(self, program: str, unneeded: tuple[str, ...]):
        program = f"import sys\n{program}\nprint(*sys.modules)"
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        assert [name for name in unneeded if name in printed.split()] == []

    def test_offer_every_name_that_is_promised(self):
        classes = set(clients.__all__) - {"PEER_TROUBLE"}
        assert [name for name in classes if getattr(clients, name).__name__ != name] == []
        assert set(clients.PEER_TROUBLE) == {clients.PeerRefused, clients.PeerUnavailable, clients.UnexpectedAnswer}
        with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
            _ = clients.Nobody


def _methods(client: type) -> dict[str, operation[..., Any, Any]]:
    return dict(getmembers(client, lambda member: isinstance(member, operation)))


def _described(method: operation[..., Any, Any]) -> Operation[Any, Any]:
    """Describe the operation with an argument for each parameter; in paths they read as the document's templates."""
    hints = get_type_hints(method.describe, include_extras=True)
    arguments: dict[str, Any] = {}
    for name in list(signature(method.describe).parameters)[1:]:
        if get_origin(hints[name]) is Unpack:
            (keywords,) = get_args(hints[name])
            assert is_typeddict(keywords)
            arguments |= {key: _example(key, hint) for key, hint in get_type_hints(keywords).items()}
        else:
            arguments[name] = _example(name, hints[name])
    described = method.describe(None, **arguments)
    path = re.sub(r"%7B(\w+)%7D", r"{\1}", described.request.path)
    for name, value in arguments.items():
        if isinstance(value, UUID | int) and not isinstance(value, bool):
            path = path.replace(f"/{value}", f"/{{{name}}}")
    object.__setattr__(described.request, "path", path)
    return described


def _example(name: str, hint: Any) -> Any:
    origin, members = get_origin(hint), get_args(hint)
    if origin in {Annotated, Union, types.UnionType}:
        return _example(name, bytes if bytes in members else members[0])
    if origin is Literal:
        return members[0]
    if origin is not None and issubclass(origin, Mapping):
        return {"a": 1}
    if hint is UUID:
        return UUID(int=sum(name.encode()))
    if issubclass(hint, BaseModel):
        return hint.model_construct(**({"root": {}} if issubclass(hint, RootModel) else {}))
    examples: dict[type, Any] = {str: f"{{{name}}}", bytes: b"x", bool: True, int: 7, float: 0.5}
    return examples[hint] if hint in examples else next(iter(hint))


def _bodies(method: operation[..., Any, Any]) -> set[type]:
    """Return the models that a method takes as its body."""

    def models(hint: Any) -> set[type]:
        members = get_args(hint)
        if members:
            return set().union(*map(models, members))
        return {hint} if isinstance(hint, type) and issubclass(hint, BaseModel) else set()

    hints = get_type_hints(method.describe, include_extras=True)
    return set().union(*(models(hints[name]) for name in list(signature(method.describe).parameters)[1:]))


def _documented(service: str) -> dict[str, Documented]:
    document = json.loads((ROOT / "openapi" / f"{service}.json").read_text())
    return {
        found["operationId"]: Documented(
            method=method.upper(),
            path=path,
            query=_parameters(found, "query"),
            headers=_parameters(found, "header"),
            body=_types(found.get("requestBody", {})),
            answers={
                media_type: _schemas(answer)
                for status, answers in found["responses"].items()
                if status.startswith("2")
                for media_type, answer in answers.get("content", {}).items()
            },
        )
        for path, methods in document["paths"].items()
        for method, found in methods.items()
    }


def _parameters(found: Mapping[str, Any], place: str) -> frozenset[str]:
    return frozenset(
        parameter["name"].lower() if place == "header" else parameter["name"]
        for parameter in found.get("parameters", ())
        if parameter["in"] == place
    )


def _types(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the models of a JSON body, or the media type of another."""
    found = body.get("content", {})
    return _schemas(found["application/json"]) if "application/json" in found else frozenset(found)


def _schemas(content: Mapping[str, Any]) -> frozenset[str]:
    schema = content.get("schema", {})
    return frozenset(each["$ref"].rpartition("/")[2] for each in (schema, *schema.get("oneOf", ())) if "$ref" in each)
