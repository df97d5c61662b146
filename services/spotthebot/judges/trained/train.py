"""Trains a judge on the units of a campaign, and writes its folder."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.judges.trained.card import FoldCard, JudgeCard
from spotthebot.judges.trained.errors import OutputExists, SpeakersTooFew, TorchIsMissing
from spotthebot.judges.trained.folds import Fold, train_folds
from spotthebot.judges.trained.logistic import PENALTY
from spotthebot.judges.trained.options import NetworkOptions
from spotthebot.judges.trained.scores import NETWORK, score
from spotthebot.judges.trained.text_features import MAX_WORDS
from spotthebot.judges.trained.units import Unit, units_sha256

TEXT_MODEL: Final = "logistic regression on text features"
_NEEDS: Final = ("torch", "transformers", "safetensors")


def train_judge(
    units: Sequence[Unit],
    out: Path,
    *,
    campaign: CampaignOut,
    labels_by: AnnotatorKind,
    today: date,
    model: Path | None = None,
    options: NetworkOptions | None = None,
    on_fold: Callable[[str], None] = lambda _: None,
) -> JudgeCard:
    """Train the models of all speakers, score them on the speakers they have not seen, and write all into `out`.

    `model` is a folder of transformers with an encoder or a causal model. Without one, the judge has text features
    alone. The same units, options and versions give the same files on a CPU. Raises OutputExists, SpeakersTooFew,
    ModelUnusable and TorchIsMissing.
    """
    options = options or NetworkOptions()
    require_new(out)
    if model is not None and not all(find_spec(name) for name in _NEEDS):
        raise TorchIsMissing
    folds = {fold.speaker: fold for fold in train_folds(units, model, options, on_fold)}
    if not folds:
        raise SpeakersTooFew(campaign=campaign.name)
    scores = score(units, folds)
    out.mkdir(parents=True, exist_ok=True)
    network = {} if model is None else asdict(options)
    card = JudgeCard(
        campaign=campaign.name,
        campaign_id=str(campaign.id),
        model=TEXT_MODEL if scores.best != NETWORK or model is None else model.name,
        answers_by=scores.best,
        labels_by=labels_by.value,
        annotators=len({label.annotator for unit in units for label in unit.labels}),
        data_sha256=units_sha256(units),
        options={"penalty": PENALTY, "max_words": MAX_WORDS, **network},
        folds=tuple(_write(fold, at, out) for at, fold in enumerate(folds.values())),
        without_model=tuple(sorted({unit.speaker for unit in units} - set(folds))),
        units=_fold_of_keys(units, list(folds)),
        scores=scores,
        date=today.isoformat(),
        versions={name: version(name) for name in ("numpy", "scipy", *(_NEEDS if model is not None else ()))},
    )
    card.write(out)
    return card


def require_new(out: Path) -> None:
    """Raise OutputExists unless the folder is missing or empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputExists(out=out)


def _write(fold: Fold, at: int, out: Path) -> FoldCard:
    folder = out / f"fold-{at}"
    folder.mkdir()
    fold.text.write(folder)
    if fold.network is not None:
        fold.network.write(folder)
    return FoldCard(fold.speaker, folder.name, tuple(sorted(fold.conversations)), fold.labels, fold.share)


def _fold_of_keys(units: Sequence[Unit], speakers: Sequence[str]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the fold of each text and side, and the conversations that show it.

    A text that several speakers have said is left out: no model has seen none of them.
    """
    said_by: defaultdict[str, set[str]] = defaultdict(set)
    shown_in: defaultdict[str, set[str]] = defaultdict(set)
    for unit in units:
        said_by[unit.key].add(unit.speaker)
        shown_in[unit.key].add(unit.conversation)
    place = {speaker: at for at, speaker in enumerate(speakers)}
    return {
        key: (place[min(said)], tuple(sorted(shown_in[key])))
        for key, said in sorted(said_by.items())
        if len(said) == 1 and min(said) in place
    }
