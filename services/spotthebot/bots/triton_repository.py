"""Writes dialogue models into the model repository of a Triton server, each complete with the code that runs it.

By hand: `python -m spotthebot.bots.triton_repository REPOSITORY NAME MODEL_DIRECTORY`.
"""

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from spotthebot.bots.domain.errors import NoSuchHostedModel
from spotthebot.kit.errors import Invalid

MAX_BATCH_SIZE = 32
MAX_QUEUE_DELAY_MICROSECONDS = 2_000
VERSION = "1"
_HERE = Path(__file__).parent
_TEMPLATE = _HERE / "triton_template"
_CODE = _HERE / "dialogue_models"
_HIDDEN = ".unfinished-"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class HostedModelNameNotUsable(Invalid):
    """'{name}' can't be a model's name: up to 63 of a-z, 0-9, '-' and '_', beginning with a letter or digit."""


class BatchingNotUsable(Invalid):
    """A batch holds 1 to 1,024 requests and waits 0 to 1,000,000 microseconds, not {size} and {delay}."""


def write_model(
    repository: Path,
    name: str,
    model_directory: str | Path,
    *,
    max_batch_size: int = MAX_BATCH_SIZE,
    max_queue_delay_microseconds: int = MAX_QUEUE_DELAY_MICROSECONDS,
    device: str = "cpu",
    dtype: str = "auto",
) -> Path:
    """Write the model's folder, in place of one of the same name, and return it; nobody sees half of it.

    `model_directory` is where the server finds the weights, which stay there; a relative one is taken from here. A
    server in explicit mode serves what it has loaded until it is told to load the model again. The delay is how long a
    request may wait for others to share its batch. Raises HostedModelNameNotUsable and BatchingNotUsable.
    """
    target = _folder(repository, name)
    if not (1 <= max_batch_size <= 1024 and 0 <= max_queue_delay_microseconds <= 1_000_000):
        raise BatchingNotUsable(size=max_batch_size, delay=max_queue_delay_microseconds)
    configuration = Template((_TEMPLATE / "config.pbtxt").read_text()).substitute(
        name=_quoted(name),
        max_batch_size=max_batch_size,
        max_queue_delay_microseconds=max_queue_delay_microseconds,
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
        shutil.copytree(_CODE, version / _CODE.name, ignore=shutil.ignore_patterns("__pycache__"))
        if target.exists():
            target.rename(hidden / "old")
        version.parent.rename(target)
    return target


def remove_model(repository: Path, name: str) -> None:
    """Remove the model's folder, not its weights; raises NoSuchHostedModel and HostedModelNameNotUsable."""
    target = _folder(repository, name)
    if not target.exists():
        raise NoSuchHostedModel(name=name)
    with _hidden_folder(repository) as hidden:
        target.rename(hidden / "old")


def _folder(repository: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise HostedModelNameNotUsable(name=name)
    return repository / name


@contextmanager
def _hidden_folder(repository: Path) -> Iterator[Path]:
    """Give a folder on the repository's own file system, which is removed with what is left in it."""
    hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=repository))
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _quoted(text: str) -> str:
    """Return a string of protobuf's text format: whatever is in it, it ends where it should."""
    plain = set(range(0x20, 0x7F)) - set(b"\"'\\")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


def _main() -> None:
    parser = argparse.ArgumentParser(description="Write a dialogue model into a Triton model repository.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("name")
    parser.add_argument("model_directory", help="a transformers or trained model, as the server sees it")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 ... (default: cpu)")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, float16 (default: auto)")
    parser.add_argument("--max-batch-size", type=int, default=MAX_BATCH_SIZE)
    parser.add_argument("--max-queue-delay-microseconds", type=int, default=MAX_QUEUE_DELAY_MICROSECONDS)
    write_model(**vars(parser.parse_args()))


if __name__ == "__main__":
    _main()
