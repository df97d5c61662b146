"""The declaration of a trained judge: the file that `./stb judge add` reads."""

import json
from pathlib import Path
from typing import Final

from spotthebot.contracts.annotation.judges import JudgeIn, TrainedJudge
from spotthebot.judges.trained.card import JudgeCard

DECLARATION: Final = "judge.yaml"


def write_declaration(card: JudgeCard, name: str, sha256: str, folder: Path) -> Path:
    """Write the declaration of a judge with this name, and return its path. `sha256` is of the judge's files."""
    settings = TrainedJudge.model_validate(
        {
            "kind": "trained",
            "model": card.model,
            "files_sha256": sha256,
            "trained_on": [card.campaign_id],
            "leaves_out_speakers": True,
        }
    )
    judge = JudgeIn(name=name, description=f"Trained on {card.campaign}."[:2000], settings=settings)
    path = folder / DECLARATION
    # JSON is YAML.
    path.write_text(json.dumps(judge.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
