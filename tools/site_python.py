"""Pages of the site about Python: methods of clients with their endpoints, types of `spotthebot.contracts`."""

from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import chain

from pydantic import BaseModel

from spotthebot.contracts.services import API_NAMES
from tools.site_reference import document_of, modules_of_types, operations_of, text_of, type_lines


def page_of_clients() -> str:
    """Return the page of `spotthebot.clients`: each method of each client, with the endpoint that it calls."""
    parts = [
        "---\ntocdepth: 2\n---\n\n# Methods of the Python clients\n",
        "Each method leads to its endpoint, with its parameters, body and answer.",
        "`Unpack` stands for keywords: `cursor` and `page_size` of a list, `idempotency_key` of a change, or the",
        "endpoint's own. [Use Python](../python-client.md) shows clients, results of each kind of method, errors.\n",
    ]
    for service in API_NAMES:
        name = service.capitalize()
        parts.append(f"## {name}, Async{name}\n")
        for method, path, operation in operations_of(service):
            called = operation["operationId"]
            said = text_of(operation["description"].partition("\n\n")[0])
            parts.append(f"- [`{called}`](#{service}.{called}), `{method.upper()} {path}`: {said}")
        parts.append("")
    return "\n".join(parts)


def page_of_contracts() -> str:
    """Return the page of `spotthebot.contracts`: its types by module. Types of an API have their fields on its page."""
    by_module = defaultdict[str, list[str]](list)
    for name, module in modules_of_types().items():
        if not name.startswith("_"):
            by_module[module].append(name)
    return "\n".join(
        [
            "---\ntocdepth: 2\n---\n\n# Types of spotthebot.contracts\n",
            "The [clients](clients.md) take and return these types. The page of an API has the fields of its types.\n",
            *chain.from_iterable(_module(module, sorted(names)) for module, names in sorted(by_module.items())),
        ]
    )


def _module(name: str, types: list[str]) -> Iterator[str]:
    module = import_module(name)
    yield f"## {name.removeprefix('spotthebot.contracts.')}\n\n`{name}`: {text_of(module.__doc__ or '')}\n"
    for each in types:
        services = [service for service in API_NAMES if each in document_of(service)["components"]["schemas"]]
        found = getattr(module, each)
        if services:
            said = text_of((found.__doc__ or "").partition("\n\n")[0])
            pages = ", ".join(f"[{service}]({service}.md#{each.lower()})" for service in services)
            yield f"### {each}\n\n{said} Fields: {pages}.\n"
        elif issubclass(found, BaseModel):
            yield from type_lines(each, found.model_json_schema())
        else:
            yield from type_lines(each, {"description": found.__doc__, "properties": {}})
