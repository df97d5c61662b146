"""The card of a trained judge: what it was trained on, how it scores, and which model may judge which text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from spotthebot.judges.trained.errors import JudgeUnreadable, TrainedOnIt
from spotthebot.judges.trained.scores import LOG_LOSS, TEXT_FEATURES, Gain, Scores

CARD: Final = "judge.json"
_README: Final = "README.md"
_NAMES: Final = {"constant": "the constant share", "text_features": "text features", "network": "the network"}


@dataclass(frozen=True)
class FoldCard:
    """One model: the speaker whom it may judge, its folder, and the conversations that it was trained on."""

    speaker: str
    folder: str
    conversations: tuple[str, ...]
    labels: int
    share: float


@dataclass(frozen=True)
class JudgeCard:
    """The facts about a trained judge; the file `judge.json` holds exactly these fields.

    `answers_by` says which models answer: `network` or `text_features`. `labels_by` is the kind of the annotators.
    `units` has the fold of each side of a segment by its key, and the conversations that show it. Speakers in
    `without_model` have no fold.
    """

    campaign: str
    campaign_id: str
    model: str
    answers_by: str
    labels_by: str
    annotators: int
    data_sha256: str
    options: Mapping[str, Any]
    folds: tuple[FoldCard, ...]
    without_model: tuple[str, ...]
    units: Mapping[str, tuple[int, Sequence[str]]]
    scores: Scores
    date: str
    versions: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> "JudgeCard":
        """Read the card of a judge. Raises JudgeUnreadable, and TrainedOnIt if it would judge what it has seen."""
        try:
            value = json.loads((folder / CARD).read_text(encoding="utf-8"))
            scores = value["scores"]
            value |= {
                "folds": tuple(
                    FoldCard(**{**each, "conversations": tuple(each["conversations"])}) for each in value["folds"]
                ),
                "without_model": tuple(value["without_model"]),
                "units": {key: (int(fold), tuple(shown)) for key, (fold, shown) in value["units"].items()},
                "scores": Scores(scores["labels"], scores["losses"], tuple(Gain(**each) for each in scores["gains"])),
            }
            card = cls(**value)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise JudgeUnreadable(folder=folder, reason=str(error) or type(error).__name__) from error
        require_unseen(card, folder)
        return card

    def write(self, folder: Path) -> None:
        """Write the card as `judge.json` for programs and as `README.md` for people."""
        (folder / CARD).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (folder / _README).write_text(self._readme(), encoding="utf-8")

    @property
    def findings(self) -> list[str]:
        """Return a sentence for each comparison: which judge has the lower log loss, and whether that is certain."""
        found = [_finding(each) for each in self.scores.gains if each.loss == LOG_LOSS]
        if self.without_model:
            found.append(
                f"No model may judge {', '.join(self.without_model)}: without them no two kinds of labels are left."
            )
        if self.labels_by != "person":
            found.append("The labels are simulated: the judge predicts a written rule, not people.")
        return found

    def _readme(self) -> str:
        rows = [
            f"| {_NAMES[judge]} | {each['log_loss']:.4f} | {each['brier']:.4f} |"
            for judge, each in self.scores.losses.items()
        ]
        folds = [
            f"| {each.speaker} | {len(each.conversations):,} | {each.labels:,} | {each.share:.3f} |"
            for each in self.folds
        ]
        return "\n".join(
            (
                f"# A judge trained on {self.campaign}",
                "",
                f"Trained with `./stb judge train` on {self.date}. It answers P(human) of a side of a segment, by"
                f" {_NAMES[self.answers_by]}" + (f" ({self.model})." if self.answers_by != TEXT_FEATURES else "."),
                "",
                *(f"- {each}" for each in self.findings),
                "",
                "## Scores on speakers that a model has not seen",
                "",
                f"{self.scores.labels:,} labels of {self.annotators:,} annotators.",
                "",
                "| judge | log loss | Brier score |",
                "|---|---|---|",
                *rows,
                "",
                "## Models",
                "",
                "A model judges one speaker, and has seen no conversation of this speaker. It judges nothing else.",
                "",
                "| speaker | conversations | labels | share of human |",
                "|---|---|---|---|",
                *folds,
                "",
                f"Data: SHA-256 {self.data_sha256}. Options: {json.dumps(dict(self.options))}.",
                f"Made with {', '.join(f'{name} {version}' for name, version in self.versions.items())}.",
                "",
            )
        )


def require_unseen(card: JudgeCard, folder: Path) -> None:
    """Raise TrainedOnIt if a model of the judge was trained on a conversation that shows a text it would judge."""
    seen = [frozenset(fold.conversations) for fold in card.folds]
    for fold, shown in card.units.values():
        if not 0 <= fold < len(seen):
            raise JudgeUnreadable(folder=folder, reason=f"there is no fold {fold}")
        both = seen[fold].intersection(shown)
        if both:
            raise TrainedOnIt(folder=folder, conversation=min(both))


def _finding(gain: Gain) -> str:
    judge, over = _NAMES[gain.judge], _NAMES[gain.over]
    verb = "beats" if gain.judge == "network" else "beat"
    bounds = gain.reason if gain.low is None or gain.high is None else f"from {gain.low:z.4f} to {gain.high:z.4f}"
    if gain.is_certain:
        return f"{judge.capitalize()} {verb} {over}: log loss lower by {gain.estimate:z.4f} ({bounds})."
    negated = "does not beat" if gain.judge == "network" else "do not beat"
    return f"{judge.capitalize()} {negated} {over} for certain: log loss lower by {gain.estimate:z.4f} ({bounds})."
