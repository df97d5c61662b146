"""FED in the demonstration: a tiny language model, trained on the sample corpus, scores the bots' turns."""

import asyncio
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final
from uuid import UUID

from spotthebot.contracts.fed.score_jobs import ScoreJobIn, ScoreSetOut
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from spotthebot.local.scoring.collections import offer_model, score_collection

_SCORER: Final = "demo-scorer"
_TRAINING_STEPS: Final = 80


async def score_demo(
    clients: Clients, folder: DataFolder | None, collection_id: UUID, steps: Steps, *, seed: int
) -> ScoreSetOut | None:
    """Score every bot's dialogues by their overall quality.

    Returns None if torch is not installed, or if there is no data folder for the trained model.
    """
    if folder is None or importlib.util.find_spec("torch") is None:
        return None
    with steps.step("Training a scorer on the sample corpus", total=1):
        scorer = await _train(folder)
    model = await asyncio.to_thread(offer_model, folder, str(scorer), beside=folder.path)
    request = ScoreJobIn(
        collection_id=collection_id,
        scorer=ScorerIn(
            model=model,
            mode="followup_mean",
            polarity="negatives",
            dimensions=("overall",),
            dimension_set=DimensionSetRef(set="bipartite"),
            over_long="truncate_oldest_turns",
        ),
        level="dialogue",
        seed=seed,
    )
    return await score_collection(clients, request, steps)


async def _train(folder: DataFolder) -> Path:
    """Train the model in a separate process, unless an earlier demonstration on this data folder trained it."""
    target = (folder.path / _SCORER).absolute()
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(prefix=".training-", dir=folder.path) as unfinished:
        out = Path(unfinished) / "model"
        command = ("-m", "spotthebot.cli", "fed", "train-scorer", "sample", "--out", str(out))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *command, "--steps", str(_TRAINING_STEPS)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        if process.returncode:
            reason = " ".join(said.decode(errors="replace").split())[-500:]
            raise JobFailed(what="Training the scorer", reason=reason)
        shutil.move(out, target)
    return target
