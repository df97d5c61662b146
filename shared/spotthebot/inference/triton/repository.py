"""Writes models into the model repository of a Triton server. Each model comes with a copy of the code that runs it.

To write one by hand: `python -m spotthebot.inference.triton.repository REPOSITORY NAME MODEL_DIRECTORY`.
"""

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from spotthebot.inference import models
from spotthebot.inference.errors import BatchingNotUsable, HostedModelNameNotUsable, ModelNotInRepository
from spotthebot.inference.models.dialogue import kind as dialogue_kind

MAX_BATCH_SIZE = 32
MAX_QUEUE_DELAY_MICROSECONDS = 2_000
VERSION = "1"
_TEMPLATE = Path(__file__).parent / "template"
_CODE = Path(models.__path__[0])
_COPY = "inference_models"
"""The name of the copied code next to a model, which `template/model.py` imports."""
_HIDDEN = ".unfinished-"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def write_model(
    repository: Path,
    name: str,
    model_directory: str | Path,
    *,
    kind: str,
    max_batch_size: int = MAX_BATCH_SIZE,
    max_queue_delay_microseconds: int = MAX_QUEUE_DELAY_MICROSECONDS,
    device: str = "cpu",
    dtype: str = "auto",
) -> Path:
    """Write the model's folder in one step and return it. A folder of the same name is replaced.

    `kind` is the import path of a kind of model below `inference.models`, as `models.protocol.load` takes it. The
    weights stay in `model_directory`, where the server reads them; a relative path starts at the current directory of
    this process. A server in explicit mode serves the model that it has loaded until a request loads it again. The
    queue delay is how long a request may wait for other requests to share its batch. Raises HostedModelNameNotUsable
    and BatchingNotUsable.
    """
    target = _folder(repository, name)
    if not (1 <= max_batch_size <= 1024 and 0 <= max_queue_delay_microseconds <= 1_000_000):
        raise BatchingNotUsable(size=max_batch_size, delay=max_queue_delay_microseconds)
    if not kind.startswith(f"{models.__name__}."):
        message = f"{kind} is not below {models.__name__}: its code is not copied beside a Triton model"
        raise ValueError(message)
    configuration = Template((_TEMPLATE / "config.pbtxt").read_text()).substitute(
        name=_quoted(name),
        max_batch_size=max_batch_size,
        max_queue_delay_microseconds=max_queue_delay_microseconds,
        kind=_quoted(f"{_COPY}{kind.removeprefix(models.__name__)}"),
        model_directory=_quoted(str(Path(model_directory).absolute())),
        device=_quoted(device),
        dtype=_quoted(dtype),
    )
    repository.mkdir(parents=True, exist_ok=True)
    with _hidden_folder(repository) as hidden:
        version = hidden / "new" / VERSION
        version.mkdir(parents=True)
        (version.parent / "config.pbtxt").write_text(configuration)
        shutil.copy(_TEMPLATE / "model.py", version)
        shutil.copytree(_CODE, version / _COPY, ignore=shutil.ignore_patterns("__pycache__"))
        if target.exists():
            target.rename(hidden / "old")
        version.parent.rename(target)
    return target


def remove_model(repository: Path, name: str) -> None:
    """Remove the folder of a model; its weights stay. Raises ModelNotInRepository and HostedModelNameNotUsable."""
    target = _folder(repository, name)
    if not target.exists():
        raise ModelNotInRepository(name=name)
    with _hidden_folder(repository) as hidden:
        target.rename(hidden / "old")


def _folder(repository: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise HostedModelNameNotUsable(name=name)
    return repository / name


@contextmanager
def _hidden_folder(repository: Path) -> Iterator[Path]:
    """Yield a temporary folder in the repository's own file system. It is deleted afterwards with its content."""
    hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=repository))
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _quoted(text: str) -> str:
    """Return a text as a string literal of protobuf's text format.

    No character of the text can end the literal early.
    """
    plain = set(range(0x20, 0x7F)) - set(b"\"'\\")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


def _main() -> None:
    parser = argparse.ArgumentParser(description="Write a model into a Triton model repository.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("name")
    parser.add_argument("model_directory", help="a transformers or trained model, as the server sees it")
    parser.add_argument("--kind", default=dialogue_kind.KIND, help="import path of its kind (default: dialogue models)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 ... (default: cpu)")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, float16 (default: auto)")
    parser.add_argument("--max-batch-size", type=int, default=MAX_BATCH_SIZE)
    parser.add_argument("--max-queue-delay-microseconds", type=int, default=MAX_QUEUE_DELAY_MICROSECONDS)
    write_model(**vars(parser.parse_args()))


if __name__ == "__main__":
    _main()
