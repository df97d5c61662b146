"""The `stb` command line. Exit codes: 0 done, 1 failed, 2 wrong usage."""

import sys

import typer

from spotthebot.kit.errors import Error
from spotthebot.suite.cli import (
    analyses,
    bots,
    collecting,
    corpora,
    doctor,
    documents,
    installing,
    keys,
    operation,
    studies,
    testing,
)
from spotthebot.suite.progress import screen

app = typer.Typer(
    name="stb",
    help="Spot The Bot: evaluate chatbots, from conversations to a ranking.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("demo")(studies.demo)
app.command("up")(operation.up)
app.command("status")(operation.status)
app.command("down")(operation.down)
app.command("collect")(collecting.collect)
app.command("import")(studies.import_study)
app.command("rank")(analyses.rank)
app.command("report")(analyses.report)
app.command("analyse")(analyses.analyse)
app.add_typer(keys.app, name="keys")
app.add_typer(bots.app, name="bots")
app.add_typer(corpora.app, name="corpora")
app.command("install")(installing.install)
app.command("doctor")(doctor.doctor)
app.command("openapi")(documents.openapi)
app.command("test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(testing.test)


def main() -> None:
    """Run one command; what goes wrong in a way we know is told in one sentence."""
    try:
        app(prog_name="./stb")
    except Error as error:
        screen.print("[red]Error:[/red] ", end="")
        screen.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except OSError as error:  # a full disk can show anywhere
        screen.print("[red]Error:[/red] ", end="")
        place = f" ({error.filename})" if error.filename else ""
        screen.print(f"{error.strerror or error}{place}.", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        screen.print("Stopped.")
        sys.exit(130)
