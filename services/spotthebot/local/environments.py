"""Virtual environments for programs that can't share ours: Triton, ParlAI, `transformers serve`.

An environment holds exactly the distributions (installed packages) that it names. Distributions that the running
interpreter has in the same version are linked instead of installed. So torch is neither fetched nor stored again: an
environment takes seconds and tens of megabytes instead of a minute and more than a gigabyte.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from spotthebot.kit.errors import Unavailable

FOLDER_VARIABLE = "SPOTTHEBOT_ENVIRONMENTS"
_UNFINISHED = ".unfinished-"
_INSTALL = ("install", "--quiet", "--no-input", "--no-compile", "--disable-pip-version-check")
# iopath, pure Python, is published only as source. Other packages without a wheel here would take minutes to build.
_BUILDS = ("--only-binary=:all:", "--no-binary=iopath")
# Its builds have different requirements: CUDA's libraries or none.
_WITH_DEPENDENCIES = "torch"


class EnvironmentNotMade(Unavailable):
    """The environment '{name}' can't be made: {reason}"""  # noqa: D400 - ends as the reason does


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its name and its content, every distribution in it as `name==version`."""

    name: str
    requirements: tuple[str, ...]


_TORCH = """torch==2.13.0 filelock==4.2.11 fsspec==2026.9.0 Jinja2==3.1.6 MarkupSafe==3.0.4 mpmath==1.3.0
    networkx==3.6.1 sympy==1.14.0 typing_extensions==4.16.0"""
_TRANSFORMERS = """transformers==5.23.0 annotated-doc==0.0.7 anyio==4.16.0 certifi==2026.10.18 click==8.5.1 h11==0.16.0
    hf-xet==1.8.0 httpcore2==2.16.2 httpx2==2.16.2 huggingface_hub==2.4.0 idna==3.20 markdown-it-py==4.3.0 mdurl==0.1.2
    packaging==26.3 Pygments==2.21.0 PyYAML==6.0.3 regex==2026.11.15 rich==15.0.0 safetensors==0.8.0 shellingham==1.5.4
    tokenizers==0.23.3 tqdm==4.70.1 truststore==0.10.5 typer==0.29.2"""
# The Python backend's stub crashes on texts with numpy 2.
_TRITON = "nvidia-pytriton==0.7.0 numpy==1.26.4"
# ParlAI requires sixty more distributions, which its two services do not import, and a numpy of 2022.
_PARLAI = """parlai==1.7.2 certifi==2026.10.18 charset-normalizer==3.5.2 cloudpickle==3.1.2 idna==3.20 iopath==0.1.10
    joblib==1.6.0 numpy==2.4.6 pillow==13.0.0 portalocker==4.4.2 PyYAML==6.0.3 requests==2.34.2 setuptools==79.0.1
    sh==2.4.0 tornado==6.6.1 tqdm==4.70.1 urllib3==2.8.0 websocket-client==1.9.2"""
_SERVING = """accelerate==1.15.0 annotated-types==0.8.0 fastapi==0.165.0 jiter==0.19.0 numpy==2.4.6 openai==3.52.0
    opentelemetry-api==1.45.2 psutil==7.2.2 pydantic==2.14.3 pydantic_core==2.50.4 sniffio==1.3.1 starlette==1.10.0
    typing-inspection==0.4.5 uvicorn==0.54.0"""

TRITON = Environment("triton", (*_TRITON.split(), *_TORCH.split(), *_TRANSFORMERS.split()))
PARLAI = Environment("parlai", (*_PARLAI.split(), *_TORCH.split()))
TRANSFORMERS_SERVE = Environment("transformers-serve", (*_SERVING.split(), *_TORCH.split(), *_TRANSFORMERS.split()))


def default_folder() -> Path:
    """Return the folder of environments: SPOTTHEBOT_ENVIRONMENTS, else the user's cache, else a temporary folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given)
    cache = Path("~/.cache").expanduser()
    nearest = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if os.access(nearest, os.W_OK):
        return cache / "spotthebot" / "environments"
    return Path(tempfile.gettempdir()) / f"spotthebot-environments-{os.getuid()}"


def ensure(environment: Environment, folder: Path | None = None) -> Path:
    """Return the path of the environment's Python, and make the environment if it is missing.

    The environment is kept below `folder` (None: `default_folder()`) for later calls. If several processes call this at
    once, one of them makes the environment. The environment has only the script `bin/python`: start programs with
    `python -m`. Raises EnvironmentNotMade.
    """
    try:
        return _ensure(environment, (default_folder() if folder is None else folder).resolve())
    except OSError as error:
        raise EnvironmentNotMade(name=environment.name, reason=error) from error


def _ensure(environment: Environment, folder: Path) -> Path:
    lent = {each: entries for each in environment.requirements if (entries := _entries_to_lend(each))}
    recipe = (sys.version, sysconfig.get_platform(), sys.base_prefix, *environment.requirements, *_paths(lent))
    key = hashlib.sha256("\n".join(recipe).encode()).hexdigest()[:16]
    target = folder / f"{environment.name}-{key}"
    if not _is_sound(target):
        _make_folder(environment, folder)
        with _lock(folder / f".{target.name}.lock"):
            if not _is_sound(target):
                _make(environment, target, lent)
    return _python_of(target)


def _make(environment: Environment, target: Path, lent: dict[str, list[Path]]) -> None:
    prefix = f"{_UNFINISHED}{target.name}-"
    for left_over in (target, *target.parent.glob(f"{prefix}*"), *_orphans(environment, target.parent)):
        shutil.rmtree(left_over, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        venv.EnvBuilder(symlinks=True).create(unfinished)
        missing = [each for each in environment.requirements if each not in lent]
        entire = [each for each in missing if _name_of(each) == _WITH_DEPENDENCIES]
        _install(environment, unfinished, entire)
        _install(environment, unfinished, [each for each in missing if each not in entire], "--no-deps")
        packages = _packages_of(unfinished)
        for entry in (entry for entries in lent.values() for entry in entries):
            (packages / entry.name).symlink_to(entry)
        for script in (unfinished / "bin").iterdir():
            if not script.name.startswith("python"):  # it names the folder it was made in
                script.unlink()
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _install(environment: Environment, folder: Path, requirements: list[str], *options: str) -> None:
    if not requirements:
        return
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(_python_of(folder)),
        *_INSTALL,
        *_BUILDS,
        *options,
        *requirements,
    )
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(pip, env=inherited, capture_output=True, text=True, check=False)  # noqa: S603 - our own pins
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line and "WARNING" not in line]
        raise EnvironmentNotMade(name=environment.name, reason=lines[-1] if lines else f"pip: {done.returncode}")


def _entries_to_lend(requirement: str) -> list[Path] | None:
    """Return a distribution's files and folders in our site-packages; None if we lack it or it shares a folder."""
    name, _, version = requirement.partition("==")
    try:
        ours = distribution(name)
    except PackageNotFoundError:
        return None
    if ours.version.partition("+")[0] != version:
        return None
    entries = [Path(str(ours.locate_file(top))).absolute() for top in _tops(ours)]
    return entries if entries and all(_is_lendable(entry) for entry in entries) else None


def _tops(ours: Distribution) -> list[str]:
    return sorted({file.parts[0] for file in ours.files or () if file.parts[0] not in {"..", "__pycache__"}})


def _is_lendable(entry: Path) -> bool:
    # A folder without __init__.py may be a namespace, to which other distributions contribute.
    if entry.is_dir():
        return entry.suffix in {".dist-info", ".libs"} or (entry / "__init__.py").exists()
    return entry.is_file() and entry.suffix in {".py", ".so"}


def _is_sound(target: Path) -> bool:
    return _python_of(target).exists() and all(entry.exists() for entry in _packages_of(target).iterdir())


def _orphans(environment: Environment, folder: Path) -> Iterator[Path]:
    """Yield environments that are unusable, because their links are broken."""
    for each in folder.glob(f"{environment.name}-*"):
        if not _is_sound(each):
            yield each


def _paths(lent: dict[str, list[Path]]) -> list[str]:
    return [str(entry) for entries in lent.values() for entry in entries]


def _python_of(target: Path) -> Path:
    return target / "bin" / "python"


def _packages_of(target: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", vars={"base": str(target), "platbase": str(target)}))


def _name_of(requirement: str) -> str:
    return re.split(r"[=\[]", requirement)[0]


def _make_folder(environment: Environment, folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # In the temporary folder another user may have come first, and files from here are executed.
    if folder.stat().st_uid != os.getuid():
        raise EnvironmentNotMade(name=environment.name, reason=f"{folder} belongs to somebody else")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode=0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
