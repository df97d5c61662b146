"""`stb fed`: scores dialogues with FED, and trains a language model for FED."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spotthebot.cli.commands.fed_tables import print_correlations, print_scores
from spotthebot.cli.commands.install import Part, PartMissing
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.contracts.fed.scorers import JoinForm, Level, Mode, OverLong, PolarityChoice, SetRule
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.scoring.dialogue_files import RejectedDialogue
from spotthebot.local.scoring.errors import NothingToScore
from spotthebot.local.scoring.files import ScoringChoices, read_file, score_file

_MAX_REJECTED_SHOWN = 20


def score(
    file: Annotated[
        Path, typer.Argument(help="Dialogues: an exported collection, a JSON object a line, or fed_data.json.")
    ],
    model: Annotated[str, typer.Option(help="Folder of a language model, or its name on the hub.")],
    level: Annotated[Level, typer.Option(help="Score after each turn that answers another, or after the last.")] = (
        "dialogue"
    ),
    mode: Annotated[
        Mode, typer.Option(help="whole_sequence_mean is the released code's, followup_sum the paper's.")
    ] = "whole_sequence_mean",
    polarity: Annotated[PolarityChoice, typer.Option(help="Which follow-ups count.")] = "both",
    set_rule: Annotated[SetRule, typer.Option(help="How the follow-ups of a polarity are summed up.")] = "mean",
    dimensions: Annotated[
        str | None,
        typer.Option(
            help="Names with commas; fed, fed-turn, fed-dialogue or bipartite; or a .json file. By default the level's."
        ),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Score the turns of this speaker only.")] = None,
    over_long: Annotated[OverLong, typer.Option(help="For contexts too long for the model.")] = "error",
    join: Annotated[JoinForm | None, typer.Option(help="How turns are joined; without it the model's own way.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="Write the log-probability of each token, too.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")] = "auto",
    json_file: JsonFile = None,
) -> None:
    """Score dialogues of a file by FED, without any service.

    The table also shows the baseline predicted from length alone.
    """
    check_output(json_file)
    chosen = ScoringChoices(
        level=level,
        mode=mode,
        polarity=polarity,
        set_rule=set_rule,
        dimensions=dimensions,
        speaker=speaker,
        over_long=over_long,
        join=join,
        tokens=tokens,
    )
    read = read_file(file, chosen)
    if importlib.util.find_spec("torch") is None:
        raise PartMissing(package="torch", part=Part.MODELS.value)
    with showing_progress() as steps:
        scored = score_file(read, model, device=device, dtype=dtype, steps=steps)
    _print_rejected(file, scored.rejected)
    if not scored.scores:
        raise NothingToScore(path=file, reason=scored.rejected[0].reason)
    write_json(json_file, [each.to_json() for each in scored.scores])
    if str(json_file) != "-":
        print_scores(Console(), scored)
        if any(each.ratings for each in read.dialogues.dialogues):
            print_correlations(Console(), read.dialogues, scored)


def _print_rejected(file: Path, rejected: tuple[RejectedDialogue, ...]) -> None:
    for each in rejected[:_MAX_REJECTED_SHOWN]:
        say(f"Not scored: {file.name}, line {each.line}: {each.reason}")
    if len(rejected) > _MAX_REJECTED_SHOWN:
        say(f"... and {len(rejected) - _MAX_REJECTED_SHOWN} more lines")
