"""The bill of materials of a release (CycloneDX 1.6): the pinned packages of the suite, with hashes of their files."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

PART = "suite"


def bill_of_materials(root: Path, version: str, epoch: int) -> str:
    """Return the document as JSON. The same pins, version and time (seconds since 1970) make the same text."""
    purl = PackageURL("pypi", name="spotthebot", version=version)
    ours = Component(name="spotthebot", version=version, type=ComponentType.APPLICATION, purl=purl, bom_ref=str(purl))
    document = Bom(serial_number=uuid5(NAMESPACE_URL, f"{purl}#{epoch}"))
    document.metadata.component = ours
    document.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    for line in (root / "requirements.txt").read_text().split("\n"):
        pinned, _, parts = line.rpartition("#")
        if PART in parts.split() and not line.startswith("#"):
            document.components.add(_component(*pinned.split(" --hash=")))
    document.register_dependency(ours, document.components)
    return JsonV1Dot6(document).output_as_string(indent=1) + "\n"


def _component(requirement: str, *hashes: str) -> Component:
    pinned = Requirement(requirement)
    (version,) = (each.version for each in pinned.specifier)
    purl = PackageURL("pypi", name=pinned.name, version=version)
    files = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(f"https://pypi.org/project/{pinned.name}/{version}/#files"),
        comment=f"installed if {pinned.marker}" if pinned.marker else None,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each.strip().removeprefix("sha256:")) for each in hashes],
    )
    return Component(name=pinned.name, version=version, purl=purl, bom_ref=str(purl), external_references=[files])
