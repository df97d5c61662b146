"""Scores the dialogues of a file with a model in this process, by dimensions of a built-in set or of the user."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from spotthebot.contracts.fed.scorers import JoinForm, Mode, OverLong, PolarityChoice, SetRule
from spotthebot.contracts.fed.scorers import Level as LevelName
from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.dimension_sets.domain.dimension_sets import BUILT_IN
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, DimensionSet, user_dimension, user_dimensions
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED, FED_DIALOGUE, FED_TURN
from spotthebot.fed.scores.domain import modes
from spotthebot.inference.errors import ModelNotLoadable
from spotthebot.inference.models.errors import LoadFailed, NoSuchModel
from spotthebot.local.progress import Steps
from spotthebot.local.scoring.dialogue_files import ReadDialogues, read_dialogues
from spotthebot.local.scoring.errors import ModeNotForModel, NoSuchScorer, NotDimensions, NothingToScore
from spotthebot.local.scoring.run import Scored, ScoringOptions, score_dialogues

OF_LEVEL: Final = {Level.TURN: FED_TURN, Level.DIALOGUE: FED_DIALOGUE}
"""The dimensions that people rated at a level."""
_KNOWN: Final = DimensionSet("known", "", (*FED.dimensions, *BIPARTITE.dimensions))


@dataclass(frozen=True)
class ScoringChoices:
    """The user's choices: turns to score, dimensions, the rule of scoring, and how contexts become texts.

    `dimensions` has names, or the name of a set, or the path of a file. Without a `speaker`, the turns of all speakers
    are scored.
    """

    level: LevelName
    mode: Mode
    polarity: PolarityChoice
    set_rule: SetRule
    dimensions: str | None
    speaker: str | None
    over_long: OverLong
    join: JoinForm | None
    tokens: bool


@dataclass(frozen=True)
class FileToScore:
    """The dialogues of a file, and the options for scoring them."""

    dialogues: ReadDialogues
    options: ScoringOptions


def read_file(file: Path, chosen: ScoringChoices) -> FileToScore:
    """Read the dialogues of a file that belong to the chosen level.

    Raises NothingToScore, and the errors of `choose_dimensions` and `read_dialogues`.
    """
    rule = modes.ScoringRule(
        modes.Mode(chosen.mode), modes.PolarityChoice(chosen.polarity), modes.SetRule(chosen.set_rule)
    )
    level = Level(chosen.level)
    dimensions = choose_dimensions(chosen.dimensions, level)
    options = ScoringOptions(dimensions, rule, chosen.over_long, chosen.join, chosen.tokens)
    read = read_dialogues(file, level, speaker=chosen.speaker)
    if not read.dialogues:
        raise NothingToScore(path=file, reason=_why_nothing(read, level))
    return FileToScore(read, options)


def score_file(file: FileToScore, model: str, *, device: str, dtype: str, steps: Steps) -> Scored:
    """Load a model and score the dialogues; raises NoSuchScorer, ModelNotLoadable and ModeNotForModel."""
    from spotthebot.inference.models.likelihood.kind import load  # noqa: PLC0415 - torch is optional, and slow to import

    with steps.step("Loading the model"):
        try:
            loaded = load(model, device=device, dtype=dtype)
        except NoSuchModel as failed:
            raise NoSuchScorer(model=model, reason=failed.reason.rstrip(".")) from failed
        except LoadFailed as failed:
            raise ModelNotLoadable(model=failed.name, reason=failed.reason) from failed
    if file.options.rule.needs_context_likelihood and loaded.description.kind != "causal":
        raise ModeNotForModel(model=model)
    with steps.step("Scoring dialogues", total=len(file.dialogues.dialogues)) as step:
        return score_dialogues(loaded, file.dialogues, file.options, step.at)


def _why_nothing(read: ReadDialogues, level: Level) -> str:
    if not read.rejected:
        return f"it holds none of the level '{level}'"
    return f"line {read.rejected[0].line}: {read.rejected[0].reason}"


def choose_dimensions(choice: str | None, level: Level) -> tuple[Dimension, ...]:
    """Return the dimensions of a built-in set, of a `.json` file, or of names separated by commas.

    If `choice` is None, return the dimensions that people rated at this level. Raises NotDimensions, NoSuchDimension,
    DimensionUnusable, DimensionNameTaken, OSError.
    """
    if choice is None:
        return OF_LEVEL[level].dimensions
    if choice in BUILT_IN:
        return BUILT_IN[choice].dimensions
    if choice.endswith(".json"):
        return _read(Path(choice)).dimensions
    names = dict.fromkeys(name.strip() for name in choice.split(","))
    return tuple(_KNOWN.get(name) for name in names)


def _read(path: Path) -> DimensionSet:
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise NotDimensions(path=path, reason="it is not JSON") from error
    if not isinstance(document, list):
        raise NotDimensions(path=path, reason='it must be a list of {"name", "positive", "negative"}')
    return user_dimensions(path.stem, [_dimension(path, each) for each in document])


def _dimension(path: Path, document: object) -> Dimension:
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise NotDimensions(path=path, reason="a dimension has no name")
    if unknown := sorted(set(document) - {"name", "positive", "negative"}):
        raise NotDimensions(path=path, reason=f"'{document['name']}' has the unknown key '{unknown[0]}'")
    for polarity in ("positive", "negative"):
        texts = document.get(polarity, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise NotDimensions(
                path=path, reason=f"the {polarity} follow-ups of '{document['name']}' are not a list of texts"
            )
    return user_dimension(document["name"], document.get("positive", []), document.get("negative", []))
