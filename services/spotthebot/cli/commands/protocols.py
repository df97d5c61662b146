"""`stb protocols`: converts ABC-Eval's tasks to documents of protocols and trainings."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.commands.options import AsJson, check_folder, write_json
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.errors import NotTaskSchemas
from spotthebot.importers.abc_eval.tasks import convert_tasks
from spotthebot.importers.abc_eval.trainings import ConvertedTraining, convert_training


def convert_abc_eval(
    file: Annotated[
        Path, typer.Argument(help="ABC-Eval's annotation_buckets.json.", exists=True, dir_okay=False, readable=True)
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the documents, one for each task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn ABC-Eval's task schemas into protocols.

    A table lists the converted tasks, and the reasons why others are not.
    """
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
        rows = [(each.task, each.protocol.name if each.protocol else each.reason) for each in conversions]
        print_list(("task", "protocol, or why there is none"), rows, empty="")


def convert_abc_eval_training(
    tasks: Annotated[
        Path, typer.Argument(help="ABC-Eval's annotation_buckets.json.", exists=True, dir_okay=False, readable=True)
    ],
    files: Annotated[
        list[Path], typer.Argument(help="Its training dialogues.", exists=True, dir_okay=False, readable=True)
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the documents, one for each file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn ABC-Eval's training dialogues into trainings.

    Names each dialogue that can't be converted, with the reason.
    """
    if out is not None:
        check_folder(out)
    conversions = convert_tasks(_read(tasks))
    converted = {file: convert_training(_read(file), conversions) for file in files}
    if out is not None:
        out.mkdir(exist_ok=True)
        for each in converted.values():
            if each.training is not None:
                write_json(out / f"{each.training.name}_training.json", each.training.model_dump(mode="json"))
    if as_json:
        write_json(Path("-"), {"trainings": [_account(file, each) for file, each in converted.items()]})
    else:
        _print_trainings(converted)


def _account(file: Path, converted: ConvertedTraining) -> dict[str, object]:
    return {
        "file": file.name,
        "task": converted.task,
        "training": converted.training and converted.training.name,
        "converted": sum(each.dialogue is not None for each in converted.dialogues),
        "not_converted": [
            {"dialogue": each.name, "reason": each.reason} for each in converted.dialogues if each.dialogue is None
        ],
    }


def _print_trainings(converted: dict[Path, ConvertedTraining]) -> None:
    rows = []
    for file, each in converted.items():
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in each.dialogues if one.dialogue is None)
        name = each.training.name if each.training else "none: its last dialogue is not converted"
        rows.append((file.name, name, _account(file, each)["converted"], reasons))
    print_list(("file", "training", "dialogues", "not converted"), rows, empty="")


def _read(file: Path) -> dict[str, object]:
    try:
        buckets = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise NotTaskSchemas(path=file, reason=f"it is not JSON ({error}).") from None
    if not isinstance(buckets, dict):
        raise NotTaskSchemas(path=file, reason="it is not a JSON object.")
    return buckets
