"""`stb gate`: fails if a new version of a bot is provably worse than an old one."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from spotthebot.cli.commands.declarations import Schema, declaration_faults, print_schema, required
from spotthebot.cli.commands.options import JsonFile, check_output, say_session, write_json, write_text
from spotthebot.cli.commands.service_options import takes_services
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import GateNeedsOperator
from spotthebot.cli.gates.declaration import GateDeclaration, read_gate
from spotthebot.cli.gates.report import junit, markdown, sentence
from spotthebot.cli.gates.run import GateResult, run_gate
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import role_of
from spotthebot.kit.errors import Error
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.runtime.session import Services, connect, open_session

_REGRESSION: Final = 1
_FAULT: Final = 2
_INTERRUPTED: Final = 130


@takes_services
def gate(
    services: Services,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help='YAML file of the gate: see "Gate a new version of a bot" in the documentation.',
        ),
    ] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", help="Write the report for a pull request to this file.")
    ] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the result as JUnit XML.")] = None,
    json_file: JsonFile = None,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds without a new turn while conversations wait for a bot.")
    ] = 120,
    schema: Schema = False,
) -> None:
    """Fail if a new version of a bot is provably worse than an old one.

    Exit code 1 on a proven regression, 0 if none is shown, 2 on a fault. The same command goes on after a stop.
    """
    if schema:
        print_schema(GateDeclaration)
        return
    path = required(file)
    try:
        for output in (markdown_file, junit_file, json_file):
            check_output(output)
        result = _run(services, path, patience)
    except (Error, OSError) as fault:
        with suppress(Error):
            write_text(junit_file, junit(path.stem, None, str(fault)))
        if isinstance(fault, DeclarationFaulty):
            with declaration_faults():
                raise
        say(f"Error: {fault}")
        raise typer.Exit(_FAULT) from fault
    except KeyboardInterrupt:
        say("Stopped. The same command goes on with it.")
        raise typer.Exit(_INTERRUPTED) from None
    write_text(markdown_file, markdown(result))
    write_text(junit_file, junit(result.name, result))
    write_json(json_file, result.to_json())
    if str(json_file) != "-":
        Console().print(sentence(result), markup=False, highlight=False, soft_wrap=True)
    if result.is_regression:
        raise typer.Exit(_REGRESSION)


def _run(services: Services, path: Path, patience: float) -> GateResult:
    declared = read_gate(path)
    if services.key and (role := role_of(services.key)) != Role.ADMIN:
        raise GateNeedsOperator(role=role)
    with open_session(services) as session, showing_progress() as steps:
        say_session(session)

        async def run() -> GateResult:
            async with connect(session) as clients:
                return await run_gate(clients, session.folder, declared, steps, patience_seconds=patience)

        return asyncio.run(run())
