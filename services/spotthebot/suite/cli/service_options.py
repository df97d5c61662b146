"""Where a command finds the services: `--data-dir`, or `--url` and `--key` for those that run elsewhere."""

from typing import Annotated

import typer

from spotthebot.kit.errors import Invalid
from spotthebot.suite.cli.local_commands import URL_VARIABLE
from spotthebot.suite.cli.option_groups import adding
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, DataDir, folder_at, suite_at
from spotthebot.suite.runtime.data_folder import DataFolder
from spotthebot.suite.runtime.session import Services

_KEY_VARIABLE = "SPOTTHEBOT_KEY"
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar=URL_VARIABLE,
        metavar="ADDRESS",
        help="Address of services that run elsewhere, such as https://host: no data folder is used.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar=_KEY_VARIABLE,
        metavar="KEY",
        help="API key for --url; in the variable no other user of the machine sees it.",
    ),
]
AllowHttp = Annotated[
    bool, typer.Option("--allow-http", help="Send the key unencrypted, to an address of http on another machine.")
]


def _services(
    context: typer.Context,
    url: Url = None,
    key: Key = None,
    allow_http: AllowHttp = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> Services:
    """Return where the services are; the folder need not hold a suite yet."""
    chosen = {name for name in ("url", "key", "data_dir") if _is_written(context, name)}
    if {"url", "data_dir"} <= chosen:
        message = "name --url or --data-dir, not both"
        raise typer.BadParameter(message)
    if url is None or ("data_dir" in chosen and "url" not in chosen):
        if "key" in chosen:
            message = f"--key goes with --url (or {URL_VARIABLE}): a suite on this machine is used with its own"
            raise typer.BadParameter(message)
        return folder_at(data_dir)
    if key is None:
        message = f"--url needs an API key: set {_KEY_VARIABLE} to it"
        raise typer.BadParameter(message)
    # Imported for an address only: it takes longer than all that most commands import.
    from spotthebot.suite.runtime.addresses import remote_at  # noqa: PLC0415

    try:
        return remote_at(url, key, allow_http=allow_http)
    except Invalid as refused:
        raise typer.BadParameter(str(refused)) from None


def _services_to_read(
    context: typer.Context,
    url: Url = None,
    key: Key = None,
    allow_http: AllowHttp = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> Services:
    """Return where the services are; raises NoSuite for a folder without a suite."""
    services = _services(context, url, key, allow_http, data_dir)
    return suite_at(services.path) if isinstance(services, DataFolder) else services


def _is_written(context: typer.Context, name: str) -> bool:
    """Whether an option stands in the command line itself."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


takes_services = adding(_services, "services")
"""Gives a command its argument `services`, by the options that all commands have that work with services."""
reads_services = adding(_services_to_read, "services")
"""The same for commands that read: a data folder has to hold a suite."""
