"""TypeScript types of the services' APIs, made from `openapi/` by openapi-typescript: a package that npm installs."""

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.environments import default_folder
from tools import ROOT
from tools.builds import run

NAME: Final = "spotthebot-types"
_PINNED: Final = ROOT / "tools" / "npm"
"""The generator, the compiler and the client of the documented example, pinned with hashes."""


def npm_packages() -> Path:
    """Return the folder `node_modules` of the pinned packages; installs them once, beside the cached environments.

    Raises ProgramFailed without npm or its registry.
    """
    digest = hashlib.sha256((_PINNED / "package-lock.json").read_bytes()).hexdigest()
    folder = default_folder() / f"npm-{digest[:16]}"
    if not folder.exists():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            made = shutil.copytree(_PINNED, Path(unfinished) / "made")
            run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=made)
            with suppress(OSError):  # another process was first
                made.rename(folder)
    return folder / "node_modules"


def make_types(root: Path, out: Path, version: str) -> Path:
    """Write an npm package with the types of `root/openapi` to the folder `out`; return its file.

    The package has a module for each service, `spotthebot-types/annotation`. The same documents make the same bytes.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        apis = {
            service: {"root": str(root / "openapi" / f"{service}.json"), "x-openapi-ts": {"output": f"{service}.d.ts"}}
            for service in SERVICE_NAMES
        }
        (folder / "redocly.yaml").write_text(json.dumps({"apis": apis}))  # JSON is YAML
        cli = npm_packages() / "openapi-typescript" / "bin" / "cli.js"
        # A field with a default may be left out of a request; answers leave none out.
        run("node", cli, "--default-non-nullable", "false", folder=folder)
        described = {
            "name": NAME,
            "version": version,
            "description": "Types of the APIs of Spot The Bot",
            "license": "Apache-2.0",
            "exports": {f"./{service}": {"types": f"./{service}.d.ts"} for service in SERVICE_NAMES},
            "files": ["*.d.ts"],
        }
        (folder / "package.json").write_text(json.dumps(described, indent=1) + "\n")
        run("npm", "pack", "--pack-destination", out, folder=folder)
    return out / f"{NAME}-{version}.tgz"
