"""The hashes of a release, where its files come from, and the check of both, which needs no network.

The statement has in-toto's form with SLSA's predicate. The list of hashes names it as it names all other files, so the
one SSH signature over this list covers both. Sources: https://in-toto.io/Statement/v1,
https://slsa.dev/provenance/v1, https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from spotthebot.cli.application import main
from spotthebot.kit.errors import Conflict
from spotthebot.local.progress import screen
from tools.builds import run

SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = f"{SUMS}.sig"
STATEMENT: Final = "provenance.intoto.json"
NAMESPACE: Final = "spotthebot-release"
"""What a signature is for: one for another purpose does not count."""


class NotTheFiles(Conflict):
    """{folder} is not what was released: {faults}."""


def write_provenance(sources: Path, folder: Path, *, version: str, commit: str, epoch: int) -> None:
    """Write the statement about all files in `folder`, which were built from a commit whose files `sources` has."""
    pins = {name: {"sha256": _sha256(sources / name)} for name in ("requirements.txt", "constraints.txt")}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in _digests(folder).items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:spotthebot:release:1",
                "externalParameters": {"version": version, "SOURCE_DATE_EPOCH": epoch},
                "resolvedDependencies": [
                    {"name": "spotthebot", "digest": {"gitCommit": commit}},
                    *({"name": name, "digest": digest} for name, digest in pins.items()),
                    {"name": "hatchling", "annotations": {"version": installed("hatchling")}},
                ],
            },
            "runDetails": {"builder": {"id": "urn:spotthebot:tools.release"}},
        },
    }
    (folder / STATEMENT).write_text(json.dumps(statement, indent=1) + "\n")


def write_sums(folder: Path) -> None:
    """Write the hashes of all files, as `sha256sum --check` reads them."""
    lines = [f"{digest}  {name}\n" for name, digest in _digests(folder).items()]
    (folder / SUMS).write_text("".join(lines))


def verify(
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, resolve_path=True, help="The files of a release.")
    ],
    signers: Annotated[
        Path,
        typer.Option(
            exists=True, dir_okay=False, resolve_path=True, help="Whom you trust, as ssh-keygen's allowed_signers."
        ),
    ],
) -> None:
    """Check a release's files; needs no network.

    The signature has to be of one of the signers, each file as it was signed, and the provenance about these files.
    """
    sums = folder / SUMS
    names = ("-s", folder / SIGNATURE, "-f", signers)
    signer, *_ = run("ssh-keygen", "-Y", "find-principals", *names, folder=folder).split("\n")
    options = ("-n", NAMESPACE, "-I", signer)
    run("ssh-keygen", "-Y", "verify", *names, *options, folder=folder, stdin=sums.read_text())
    statement = json.loads((folder / STATEMENT).read_text())
    faults = [*_faults(folder, sums.read_text(), statement)]
    if faults:
        raise NotTheFiles(folder=folder, faults="; ".join(faults))
    source, *_ = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit = source["digest"]["gitCommit"]
    screen.print(f"{signer} signed these files, built from {commit}.", soft_wrap=True)


def _faults(folder: Path, sums: str, statement: Mapping[str, Any]) -> list[str]:
    signed = {name: digest for digest, name in (line.split("  ", 1) for line in sums.split("\n") if line)}
    here = _digests(folder)
    stated = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]} | {
        STATEMENT: signed.get(STATEMENT)
    }
    return [
        *(f"{name} is missing" for name in sorted(signed.keys() - here.keys())),
        *(f"{name} was added" for name in sorted(here.keys() - signed.keys())),
        *(f"{name} has other content" for name in sorted(signed.keys() & here.keys()) if signed[name] != here[name]),
        *(f"the provenance is of another {name}" for name in sorted(signed) if stated.get(name) != signed[name]),
    ]


def _digests(folder: Path) -> dict[str, str]:
    return {each.name: _sha256(each) for each in sorted(folder.iterdir()) if each.name not in {SUMS, SIGNATURE}}


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main("verify")
