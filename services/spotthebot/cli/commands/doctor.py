"""`stb doctor`: shows which optional parts are installed, and what the suite has on this machine."""

import os
import platform
import shutil
import socket
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from spotthebot.cli.commands.options import AsJson, DataDir, folder_at, write_json
from spotthebot.cli.commands.resource_tables import print_details, print_list
from spotthebot.contracts.services import SERVICES
from spotthebot.kit.errors import Error
from spotthebot.local.environments import TRITON, default_folder
from spotthebot.local.plugin_checks import check_plugins
from spotthebot.local.postgres.binaries import find_binaries
from spotthebot.local.postgres.home import find
from spotthebot.local.runtime.bootstrap import DATABASE_URL_VARIABLE
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR
from spotthebot.local.runtime.kept_settings import SUITE, unknown_settings

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def doctor(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """Show which optional parts are installed, the purpose of each, and the suite's ports, size and free disk."""
    findings = [
        {"part": "Python", "found": True, "detail": platform.python_version(), "used_for": "everything"},
        _postgres(),
        _suite(data_dir),
        _ports(data_dir),
        _disk(data_dir),
        _database(data_dir),
        _settings(data_dir),
        _finding("Last backup", folder_at(data_dir).last_backup, "what ./stb backup last wrote for this data folder"),
        _finding("Documentation", _site(), "the pages' /docs: ./stb docs --site builds it in a clone"),
        _finding("torch and transformers", _models(), "training and hosting models, and scores by FED"),
        _finding("Triton", _triton(), "hosting models with ./stb up --triton"),
        _finding("Chromium", _first_on_path(_BROWSERS), "browser tests"),
        _finding("GPU", _gpu(), "hosting and scoring at speed"),
    ]
    plugins = check_plugins()
    if as_json:
        write_json(Path("-"), {"parts": findings, "plugins": plugins})
        return
    rows = ((each["part"], "yes" if each["found"] else "no", each["detail"], each["used_for"]) for each in findings)
    print_list(("Part", "There", "Detail", "Used for"), rows, empty="")
    found = ((each["name"], each["group"], each["distribution"], each["fault"] or "none") for each in plugins)
    print_details(("Plug-in", "Group", "Distribution", "Fault"), found)


def _postgres() -> dict[str, Any]:
    if os.environ.get(DATABASE_URL_VARIABLE):
        return _finding("PostgreSQL", f"the server in {DATABASE_URL_VARIABLE}", "all data")
    try:
        binaries = find_binaries()
    except Error as error:
        return {"part": "PostgreSQL", "found": False, "detail": error.detail, "used_for": "all data"}
    return _finding("PostgreSQL", f"embedded, {binaries.version}", "all data")


def _suite(data_dir: Path) -> dict[str, Any]:
    folder = folder_at(data_dir)
    state = folder.read_state()
    running = f"process {state.pid}: ./stb status{folder.option} shows its health" if state else None
    return _finding("Running suite", running, "commands on its data")


def _ports(data_dir: Path) -> dict[str, Any]:
    """Return the ports of the running suite. If none runs, return the free ports of a start without options."""
    folder = folder_at(data_dir)
    if state := folder.read_state():
        ports = sorted(urlsplit(each.url).port or 0 for each in state.services)
        return _finding("Ports", f"{', '.join(map(str, ports))}, in use by the suite", "the services")
    usual = [each.port_after(folder.port_base) for each in SERVICES]
    taken = [port for port in usual if _answers(port)]
    detail = f"taken by others: {', '.join(map(str, taken))}; choose --port-base" if taken else "free"
    return {
        "part": "Ports",
        "found": not taken,
        "detail": f"{usual[0]} to {usual[-1]}: {detail}",
        "used_for": "the services of a start without --port-base",
    }


def _answers(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def _disk(data_dir: Path) -> dict[str, Any]:
    folder = folder_at(data_dir).path
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    return {
        "part": "Data folder",
        "found": folder.exists(),
        "detail": f"{folder}: {_size(_used(folder))}, free on its disk: {_size(free)}",
        "used_for": "models, logs and, unless root runs the suite, the database",
    }


def _database(data_dir: Path) -> dict[str, Any]:
    folder = folder_at(data_dir)
    home = find(folder.path)
    detail = None if home is None else f"{home.folder}: {_size(_used(home.folder))}"
    used_for = f"all data but models: ./stb backup{folder.option} copies it, ./stb purge{folder.option} deletes it"
    return _finding("Database", detail, used_for)


def _size(size: int) -> str:
    """Return a number of bytes in the unit that people use for it."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _used(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes."""
    used = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # it was deleted meanwhile
                used += Path(parent, name).lstat().st_size
    return used


def _settings(data_dir: Path) -> dict[str, Any]:
    """Return the names of the settings of environment and data folder, not their values, which may be secret."""
    folder = folder_at(data_dir)
    state = folder.read_state()
    running = None if state is None else {key: each[key] for each in state.environments.values() for key in each}
    given = []
    for name in sorted(each for each in os.environ if each.startswith("SPOTTHEBOT_")):
        note = ""
        if unknown_settings([name], folder.path):
            note = " (unknown)"
        elif running is not None and name not in SUITE and running.get(name) != os.environ[name]:
            note = " (not in effect until the next start)"
        given.append(f"{name}{note}")
    return _finding(
        "Settings", ", ".join(given) or None, f"all else has its default; ./stb env SERVICE{folder.option} shows values"
    )


def _site() -> str | None:
    web = find_spec("spotthebot.web")
    folder = Path(web.origin).with_name("site") if web and web.origin else None
    return "built" if folder and folder.is_dir() else None


def _models() -> str | None:
    try:
        return f"torch {version('torch')}, transformers {version('transformers')}"
    except PackageNotFoundError:
        return None


def _triton() -> str | None:
    made = sorted(default_folder().glob(f"{TRITON.name}-*"))
    return str(made[-1]) if made else None


def _gpu() -> str | None:
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    asked = subprocess.run(  # noqa: S603 - a fixed command
        [command, "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=20, check=False
    )
    return asked.stdout.strip() or None if asked.returncode == 0 else None


def _first_on_path(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def _finding(part: str, detail: str | None, used_for: str) -> dict[str, Any]:
    return {"part": part, "found": detail is not None, "detail": detail or "not found", "used_for": used_for}
