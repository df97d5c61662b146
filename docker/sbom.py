"""Prints the bill of materials (CycloneDX 1.6, JSON) of the Python packages installed beside this interpreter.

The same packages make the same text: it holds no time, and its serial number is derived from the rest.
Source: https://cyclonedx.org/docs/1.6/json/
"""

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, distributions
from typing import Any
from uuid import NAMESPACE_URL, uuid5

_OURS = "spotthebot"
_NAMED = re.compile(r"^[\w.-]+")


def bill_of_materials(title: str) -> dict[str, Any]:
    """Return the document of what is installed, for an image of this title."""
    installed = {_name(each): each for each in (found.metadata for found in distributions())}  # parses a file each time
    ours = installed[_OURS]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": _component(ours) | {"type": "container", "name": f"spotthebot-{title}", "bom-ref": "image"},
            "properties": [{"name": "python", "value": platform.python_version()}],
        },
        "components": [_component(installed[name]) for name in sorted(installed)],
        "dependencies": [
            {"ref": "image", "dependsOn": [_purl(ours)]},
            *(
                {"ref": _purl(each), "dependsOn": sorted(_needs(each, installed))}
                for _, each in sorted(installed.items())
            ),
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return {**document, "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, digest)}"}


def _component(metadata: PackageMetadata) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _purl(metadata),
        "name": _name(metadata),
        "version": metadata["Version"],
        "purl": _purl(metadata),
    }
    if summary := metadata.get("Summary"):
        component["description"] = summary
    # License-Expression is an SPDX expression (PEP 639), License anything that an author wrote.
    if expression := metadata.get("License-Expression"):
        component["licenses"] = [{"expression": expression}]
    elif names := _licences(metadata):
        component["licenses"] = [{"license": {"name": name}} for name in names]
    return component


def _licences(metadata: PackageMetadata) -> list[str]:
    classifiers = metadata.get_all("Classifier") or []
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")]
    written = (metadata.get("License") or "").strip()
    return named or ([written] if written and "\n" not in written else [])


def _needs(metadata: PackageMetadata, installed: dict[str, PackageMetadata]) -> Iterator[str]:
    for requirement in {_canonical(_NAMED.findall(each)[0]) for each in metadata.get_all("Requires-Dist") or ()}:
        if requirement in installed and installed[requirement] is not metadata:
            yield _purl(installed[requirement])


def _purl(metadata: PackageMetadata) -> str:
    return f"pkg:pypi/{_name(metadata)}@{metadata['Version'].replace('+', '%2B')}"


def _name(metadata: PackageMetadata) -> str:
    return _canonical(metadata["Name"])


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    json.dump(bill_of_materials(sys.argv[1]), sys.stdout, indent=1, sort_keys=True)
