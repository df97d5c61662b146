"""Options for the API key and for the location of the services: `--data-dir` on this machine, `--url` elsewhere."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.local_commands import KEY_VARIABLE, URL_VARIABLE
from spotthebot.cli.commands.option_groups import adding
from spotthebot.cli.commands.options import DataDir, folder_at, suite_at
from spotthebot.cli.errors import NoSuite
from spotthebot.contracts.services import SERVICES
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.errors import Invalid
from spotthebot.local.errors import NotAKey, StateUnreadable
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder
from spotthebot.local.runtime.session import Services

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar=URL_VARIABLE,
        metavar="ADDRESS",
        help="Address of services that run elsewhere, such as https://host; no data folder is used.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar=KEY_VARIABLE,
        metavar="KEY",
        help="Your API key; without one, this machine's suite takes you for its administrator.",
    ),
]
AllowHttp = Annotated[
    bool, typer.Option("--allow-http", help="Send the key unencrypted, to an address of http on another machine.")
]
FrontendKey = Annotated[
    str | None,
    typer.Option(
        "--frontend-key",
        envvar="SPOTTHEBOT_FRONTEND_KEY",
        metavar="KEY",
        help="With --url: API key of the role annotation, with which programs label.",
    ),
]


def with_frontend_key(services: Services, frontend_key: str | None) -> Services:
    """Return the services with the key of a frontend, which those on another machine need to take labels."""
    if isinstance(services, DataFolder):
        return services
    if not frontend_key or parse_key(frontend_key) is None:
        message = "with --url, annotators need a key of the role annotation: set SPOTTHEBOT_FRONTEND_KEY to it"
        raise typer.BadParameter(message)
    return replace(services, frontend_key=frontend_key)


def _services(
    context: typer.Context,
    url: Url = None,
    key: Key = None,
    allow_http: AllowHttp = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> Services:
    """Return the location of the services, from the options. The data folder need not have a suite yet."""
    chosen = {name for name in ("url", "data_dir") if _is_written(context, name)}
    if {"url", "data_dir"} <= chosen:
        message = "name --url or --data-dir, not both"
        raise typer.BadParameter(message)
    if url is None or ("data_dir" in chosen and "url" not in chosen):
        return _folder(data_dir, key)
    if key is None and context.params.get("http") is None:  # callers of `./stb mcp --http` send their own keys
        message = f"Services at an address need an API key: set {KEY_VARIABLE} to it"
        raise typer.BadParameter(message)
    # Imported for an address only: it takes longer than all that most commands import.
    from spotthebot.local.runtime.addresses import remote_at  # noqa: PLC0415 - as above

    try:
        return remote_at(url, key, allow_http=allow_http)
    except Invalid as refused:
        raise typer.BadParameter(str(refused)) from None


def _folder(data_dir: Path, key: str | None) -> DataFolder:
    """Return the data folder.

    With an API key the folder must have a suite: a suite that does not exist yet has no keys.
    """
    if not key:
        return folder_at(data_dir)
    if parse_key(key) is None:
        raise typer.BadParameter(str(NotAKey()), param_hint=KEY_VARIABLE)
    try:
        return suite_at(data_dir, key=key)
    except (NoSuite, StateUnreadable, PermissionError):
        message = (
            f"{data_dir} holds no suite that you can read, so your API key belongs elsewhere: set {URL_VARIABLE} to"
            f" the address of its suite, such as http://127.0.0.1:{SERVICES[0].port}, or unset {KEY_VARIABLE}"
        )
        raise typer.BadParameter(message, param_hint=KEY_VARIABLE) from None


def _services_to_read(
    context: typer.Context,
    url: Url = None,
    key: Key = None,
    allow_http: AllowHttp = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> Services:
    """Return the location of the services, from the options; raises NoSuite if the data folder has no suite."""
    services = _services(context, url, key, allow_http, data_dir)
    return suite_at(services.path, key=services.key) if isinstance(services, DataFolder) else services


def _is_written(context: typer.Context, name: str) -> bool:
    """Whether an option comes from the command line itself, not from the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


takes_services = adding(_services, "services")
"""A decorator that adds the options for the services to a command. Their result is its argument `services`."""
reads_services = adding(_services_to_read, "services")
"""The same decorator for commands that only read: the data folder must have a suite."""
