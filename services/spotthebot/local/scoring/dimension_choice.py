"""The dimensions to score: given by names, as a built-in set, or in a file of the user."""

import json
from pathlib import Path
from typing import Final

from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, DimensionSet, user_dimension, user_dimensions
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED, FED_DIALOGUE, FED_TURN
from spotthebot.local.scoring.errors import NotDimensions

SETS: Final = {each.name: each for each in (FED, FED_TURN, FED_DIALOGUE, BIPARTITE)}
OF_LEVEL: Final = {Level.TURN: FED_TURN, Level.DIALOGUE: FED_DIALOGUE}
"""The dimensions that people rated at a level."""
_KNOWN: Final = DimensionSet("known", "", (*FED.dimensions, *BIPARTITE.dimensions))


def choose_dimensions(choice: str | None, level: Level) -> tuple[Dimension, ...]:
    """Return the dimensions of a built-in set, of a `.json` file, or of names separated by commas.

    If `choice` is None, return the dimensions that people rated at this level. Raises NotDimensions, NoSuchDimension,
    DimensionUnusable, DimensionNameTaken, OSError.
    """
    if choice is None:
        return OF_LEVEL[level].dimensions
    if choice in SETS:
        return SETS[choice].dimensions
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
