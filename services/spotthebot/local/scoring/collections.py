"""Scores a collection by the service `fed`: copies the model to a folder named by its hash, and runs a job."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from spotthebot.contracts.fed.score_jobs import ScoreJobIn, ScoreJobState, ScoreSetOut
from spotthebot.inference.model_files import files_in, files_sha256_of
from spotthebot.local.background import poll_until
from spotthebot.local.errors import JobFailed, NoSuchModelDirectory, NotAModelDirectory, NotWithUrl, OtherModelDirectory
from spotthebot.local.postgres.home import disk_errors
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients

_MODELS: Final = "models"
"""The folder for trained models in the documentation's examples."""
_SCORERS: Final = "scorers"
_TRITON: Final = "triton:"
_ENDED: Final = frozenset({ScoreJobState.COMPLETE, ScoreJobState.CANCELLED, ScoreJobState.FAILED})
_REUSED: Final = frozenset({ScoreJobState.QUEUED, ScoreJobState.RUNNING, ScoreJobState.COMPLETE})


def offer_model(folder: DataFolder | None, named: str, *, beside: Path) -> str:
    """Return the name by which the service `fed` finds the model `named`; blocks while a model directory is copied.

    A directory is searched in the folder `beside` and then in the working directory. Other names are models on the hub
    or on Triton. Raises NoSuchModelDirectory for a path that does not exist, OtherModelDirectory if a directory with
    this name exists only in a folder `models`, NotAModelDirectory, and NotWithUrl for a directory if the services run
    elsewhere.
    """
    if named.startswith(_TRITON):
        return named
    paths = [beside / Path(named).expanduser(), Path(named).expanduser()]
    found = next((path for path in paths if path.is_dir()), None)
    if found is None:
        if any((folder / _MODELS / named).is_dir() for folder in (beside, Path())):
            raise OtherModelDirectory(path=named, similar=f"{_MODELS}/{named}")
        is_beside_others = "/" in named and any(path.parent.is_dir() for path in paths)
        if named.startswith(("/", ".", "~")) or named.count("/") > 1 or is_beside_others:
            raise NoSuchModelDirectory(path=named)
        return named
    if not (found / "config.json").is_file():
        raise NotAModelDirectory(path=found)
    if folder is None:
        raise NotWithUrl(what=f"The model in '{found}'", instead="or name a model on the hub, or triton:NAME")
    name = f"{_SCORERS}/{files_sha256_of(files_in(found))[:16]}"
    target = folder.path / "models" / name
    if not target.is_dir():
        with disk_errors(folder.path):
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=target.parent))
            shutil.copytree(found, unfinished, dirs_exist_ok=True)
            unfinished.rename(target)
    return name


async def score_collection(clients: Clients, request: ScoreJobIn, steps: Steps) -> ScoreSetOut:
    """Score a collection by a job, or wait for an equal job that exists; raises JobFailed."""
    with steps.step("Scoring") as step:
        known = [each async for each in clients.fed.list_score_jobs(collection_id=request.collection_id)]
        same = [each for each in known if each.request == request and each.state in _REUSED]
        job = same[0] if same else await clients.fed.create_score_job(request)
        done = await poll_until(
            lambda: clients.fed.get_score_job(job.id),
            lambda found: found.state in _ENDED,
            "Scoring",
            on_progress=lambda found: step.at(found.done, found.steps),
        )
    if done.state is not ScoreJobState.COMPLETE:
        raise JobFailed(what="The scoring", reason=done.failure or f"it was {done.state}.")
    return await clients.fed.get_score_set(job.id)
