"""`stb fed`: scores of dialogues by FED, and models to score with."""

import importlib.util
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spotthebot.cli.commands.fed_tables import print_correlations, print_scores
from spotthebot.cli.commands.install import Part, PartMissing
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.scores.dialogue_files import ReadDialogues, RejectedDialogue, read_dialogues
from spotthebot.cli.scores.dimension_choice import choose_dimensions
from spotthebot.cli.scores.errors import ModeNotForModel, NoSuchScorer, NothingToScore
from spotthebot.cli.scores.run import Scored, ScoringOptions, score_dialogues
from spotthebot.fed.domain.dialogues import Level
from spotthebot.fed.domain.modes import Mode, PolarityChoice, ScoringRule, SetRule
from spotthebot.inference.errors import ModelNotLoadable
from spotthebot.inference.models import LoadFailed, NoSuchModel
from spotthebot.local.progress import say, showing_progress

_MAX_REJECTED_SHOWN = 20


class OverLong(StrEnum):
    """What happens to a context that the model can't read whole."""

    ERROR = "error"
    TRUNCATE_OLDEST_TURNS = "truncate_oldest_turns"


class JoinForm(StrEnum):
    """How turns and follow-up become one text."""

    FED = "fed"
    TURNS_END = "turns_end"
    CHAT = "chat"
    TEXT = "text"
    BLENDERBOT = "blenderbot"


def score(
    file: Annotated[
        Path, typer.Argument(help="Dialogues: an exported collection, a JSON object a line, or fed_data.json.")
    ],
    model: Annotated[str, typer.Option(help="Folder of a language model, or its name on the hub.")],
    level: Annotated[Level, typer.Option(help="Score after each turn that answers another, or after the last.")] = (
        Level.DIALOGUE
    ),
    mode: Annotated[
        Mode, typer.Option(help="whole_sequence_mean is the released code's, followup_sum the paper's.")
    ] = (Mode.WHOLE_SEQUENCE_MEAN),
    polarity: Annotated[PolarityChoice, typer.Option(help="Which follow-ups count.")] = PolarityChoice.BOTH,
    set_rule: Annotated[SetRule, typer.Option(help="How the follow-ups of a polarity are summed up.")] = SetRule.MEAN,
    dimensions: Annotated[
        str | None,
        typer.Option(
            help="Names with commas; fed, fed-turn, fed-dialogue or bipartite; or a .json file. By default the level's."
        ),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Score the turns of this speaker only.")] = None,
    over_long: Annotated[OverLong, typer.Option(help="For contexts too long for the model.")] = OverLong.ERROR,
    join: Annotated[JoinForm | None, typer.Option(help="How turns are joined; without it the model's own way.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="Write the log-probability of each token, too.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")] = "auto",
    json_file: JsonFile = None,
) -> None:
    """Score dialogues of a file by FED, without any service; the table shows what length alone says, too."""
    check_output(json_file)
    rule = ScoringRule(mode, polarity, set_rule)
    options = ScoringOptions(choose_dimensions(dimensions, level), rule, over_long.value, join, tokens)
    read = read_dialogues(file, level, speaker=speaker)
    if not read.dialogues:
        raise NothingToScore(path=file, reason=_why_nothing(read.rejected, level))
    scored = _score(model, read, options, device=device, dtype=dtype)
    _print_rejected(file, scored.rejected)
    if not scored.scores:
        raise NothingToScore(path=file, reason=scored.rejected[0].reason)
    write_json(json_file, [each.to_json() for each in scored.scores])
    if str(json_file) != "-":
        print_scores(Console(), scored)
        if any(each.ratings for each in read.dialogues):
            print_correlations(Console(), read, scored)


def _score(model: str, read: ReadDialogues, options: ScoringOptions, *, device: str, dtype: str) -> Scored:
    if importlib.util.find_spec("torch") is None:
        raise PartMissing(package="torch", part=Part.MODELS.value)
    from spotthebot.inference.models.likelihood import load  # noqa: PLC0415 - its errors come after those of the file

    with showing_progress() as steps:
        with steps.step("Loading the model"):
            try:
                loaded = load(model, device=device, dtype=dtype)
            except NoSuchModel as failed:
                raise NoSuchScorer(model=model, reason=failed.reason.rstrip(".")) from failed
            except LoadFailed as failed:
                raise ModelNotLoadable(model=failed.name, reason=failed.reason) from failed
        if options.rule.needs_context_likelihood and loaded.description.kind != "causal":
            raise ModeNotForModel(model=model)
        with steps.step("Scoring dialogues", total=len(read.dialogues)) as step:
            return score_dialogues(loaded, read, options, step.at)


def _print_rejected(file: Path, rejected: tuple[RejectedDialogue, ...]) -> None:
    for each in rejected[:_MAX_REJECTED_SHOWN]:
        say(f"Not scored: {file.name}, line {each.line}: {each.reason}")
    if len(rejected) > _MAX_REJECTED_SHOWN:
        say(f"... and {len(rejected) - _MAX_REJECTED_SHOWN} more lines")


def _why_nothing(rejected: tuple[RejectedDialogue, ...], level: Level) -> str:
    if not rejected:
        return f"it holds none of the level '{level.value}'"
    return f"line {rejected[0].line}: {rejected[0].reason}"
