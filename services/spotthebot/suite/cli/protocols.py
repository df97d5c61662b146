"""`stb protocols`: documents of protocols from the task schemas of others."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from spotthebot.annotation.domain.protocols.abc_eval import Conversion, convert_tasks
from spotthebot.suite.cli.options import AsJson, check_folder, write_json
from spotthebot.suite.errors import NotTaskSchemas
from spotthebot.suite.progress import screen


def convert_abc_eval(
    file: Annotated[
        Path, typer.Argument(help="ABC-Eval's annotation_buckets.json.", exists=True, dir_okay=False, readable=True)
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the documents, one for each task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn ABC-Eval's task schemas into protocols; the table says which are converted, and why others are not."""
    if out is not None:
        check_folder(out)
    conversions = convert_tasks(_read(file))
    if out is not None:
        out.mkdir(exist_ok=True)
        for each in conversions:
            if each.protocol is not None:
                write_json(out / f"{each.protocol.name}.json", each.protocol.model_dump(mode="json"))
    if as_json:
        tasks = [
            {"task": each.task, "protocol": each.protocol and each.protocol.name, "reason": each.reason}
            for each in conversions
        ]
        write_json(Path("-"), {"tasks": tasks})
    else:
        screen.print(_table(conversions))


def _read(file: Path) -> dict[str, object]:
    try:
        buckets = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise NotTaskSchemas(path=file, reason=f"it is no JSON ({error}).") from None
    if not isinstance(buckets, dict):
        raise NotTaskSchemas(path=file, reason="it holds no object.")
    return buckets


def _table(conversions: tuple[Conversion, ...]) -> Table:
    table = Table("task", "protocol, or why there is none", box=None)
    for each in conversions:
        table.add_row(each.task, each.protocol.name if each.protocol else each.reason)
    return table
