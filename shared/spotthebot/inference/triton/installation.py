"""The parts of a Triton server: program and libraries in a virtual environment, and the Python backend in a folder."""

import ctypes
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from spotthebot.inference.errors import TritonNotHere

_STUB = "triton_python_backend_stub"
_VERSION_SECONDS = 60


@dataclass(frozen=True)
class Installation:
    """A Triton installation that starts: its program, the folders of its libraries, and its models' Python."""

    program: Path
    libraries: tuple[Path, ...]
    python: Path

    @property
    def tree(self) -> Path:
        return self.program.parent.parent

    @property
    def library_path(self) -> str:
        return ":".join(str(folder) for folder in self.libraries)


def installation_of(python: Path) -> Installation:
    """Return the installation in the virtual environment of `python`; raises TritonNotHere if it does not start.

    The server runs only on Linux on x86-64 with glibc 2.35 or later.
    """
    interpreter = folders_of_shared_python()
    packages = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(python.parent.parent)}))
    installation = Installation(
        program=packages / "pytriton" / "tritonserver" / "bin" / "tritonserver",
        libraries=(*interpreter, packages / "nvidia_pytriton.libs"),
        python=python,
    )
    _try_to_run(installation)
    return installation


def copy_backend(installation: Installation, target: Path) -> Path:
    """Copy the Python backend and the stub for our Python version to `target`, and return `target`.

    The wheel has the stubs of all Python versions in a separate folder, where Triton does not look. Files of the wheel
    must stay unchanged.
    """
    python = target / "python"
    python.mkdir(parents=True, exist_ok=True)
    stub = installation.tree / "python_backend_stubs" / f"{sys.version_info.major}.{sys.version_info.minor}" / _STUB
    for file in (*(installation.tree / "backends" / "python").glob("*.*"), stub):
        if not file.is_file():
            raise TritonNotHere(reason=f"there is no Python backend for Python {sysconfig.get_python_version()}.")
        copied = python / file.name
        copied.unlink(missing_ok=True)  # an older server may still run it
        shutil.copy2(file, copied)
    return target


def folders_of_shared_python() -> tuple[Path, ...]:
    """Return the folder of libpython, which Triton's Python models need; nothing if the loader finds it by itself.

    Raises TritonNotHere if this Python has no shared library.
    """
    name = sysconfig.get_config_var("INSTSONAME") or ""
    for folder in (sysconfig.get_config_var("LIBDIR"), f"{sys.base_prefix}/lib"):
        if ".so" in name and (Path(folder) / name).is_file():
            return (Path(folder),)
    try:
        ctypes.CDLL(name)
    except OSError as error:
        reason = f"the Python in {sys.base_prefix} has no shared library: install one built with --enable-shared."
        raise TritonNotHere(reason=reason) from error
    return ()


def _try_to_run(installation: Installation) -> None:
    environment = {"LD_LIBRARY_PATH": installation.library_path}
    try:
        tried = subprocess.run(  # noqa: S603 - the program of our own environment
            (installation.program, "--help"),
            env=environment,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TritonNotHere(reason=error) from error
    if "Usage" not in tried.stdout + tried.stderr:  # --help ends with status 1
        output = (tried.stderr or tried.stdout).strip().splitlines()
        raise TritonNotHere(reason=output[-1] if output else f"it ended with status {tried.returncode}.")
