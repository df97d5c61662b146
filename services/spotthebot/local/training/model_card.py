"""The card of a trained model: its data, its options and its losses."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spotthebot.local.training.options import ModelKind, TrainingOptions, deviations

TRAINING, README = "training.json", "README.md"
_POOL = "A dialogue model of the pool of Deriu et al. (2020), trained with `./stb bots train`"
_PURPOSES = {
    ModelKind.SCORER.value: "A language model for FED (Mehri & Eskenazi 2020), trained with `./stb fed train-scorer`"
}


@dataclass(frozen=True)
class ModelCard:
    """The facts about a trained model; the file `training.json` holds exactly these fields.

    `epochs` has `epoch`, `loss` and, with validation data, `validation_loss` with `perplexity` (of tokens) or
    `hits_at_1` (of 20 candidates). The model has the weights of the epoch `kept_epoch`. Losses are in nats.
    """

    model: str
    corpus: str
    dialogues: Mapping[str, int]
    turns: Mapping[str, int]
    data_sha256: Mapping[str, str]
    options: Mapping[str, Any]
    parameters: int
    steps: int
    epochs: tuple[Mapping[str, float], ...]
    kept_epoch: int
    date: str
    versions: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> "ModelCard":
        """Read the card from the file that `write` wrote; raises OSError, ValueError and TypeError."""
        value = json.loads((folder / TRAINING).read_text(encoding="utf-8"))
        return cls(**{**value, "epochs": tuple(value["epochs"])})

    def write(self, folder: Path) -> None:
        """Write the card as `training.json` for programs and as `README.md` for people."""
        (folder / README).write_text(self._readme(), encoding="utf-8")
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        (folder / TRAINING).write_text(f"{text}\n", encoding="utf-8")

    def _readme(self) -> str:
        columns = [name for name in ("epoch", "loss", "validation_loss", "perplexity", "hits_at_1") if self._has(name)]
        rows = [" | ".join(_figure(epoch.get(name)) for name in columns) for epoch in self.epochs]
        return "\n".join(
            (
                f"# {self.model}, trained on {self.corpus}",
                "",
                f"{_PURPOSES.get(self.model, _POOL)} on {self.date}.",
                f"{self.parameters:,} parameters, {self.steps:,} steps; the weights are of epoch {self.kept_epoch}.",
                "",
                *self._differences(),
                "## Data",
                "",
                *_table(
                    ("split", "dialogues", "turns", "SHA-256"),
                    [
                        f"{split} | {count:,} | {self.turns[split]:,} | {self.data_sha256[split]}"
                        for split, count in self.dialogues.items()
                    ],
                ),
                "",
                "It can say whatever the corpus says, and can be as wrong and as rude.",
                "",
                "## Training",
                "",
                *_table(columns, rows),
                "",
                *_table(("option", "value"), [f"{name} | {value}" for name, value in self.options.items()]),
                "",
                f"Made with {', '.join(f'{name} {version}' for name, version in self.versions.items())}.",
                "",
            )
        )

    def _differences(self) -> tuple[str, ...]:
        found = deviations(ModelKind(self.model), TrainingOptions(**self.options))
        return (f"Differs from the paper's: {'; '.join(found)}.", "") if found else ()

    def _has(self, name: str) -> bool:
        return any(name in epoch for epoch in self.epochs)


def _table(head: tuple[str, ...] | list[str], rows: list[str]) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {row} |" for row in rows)]


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4g}"
