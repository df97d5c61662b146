"""Known vulnerabilities of the pinned packages, by pip-audit."""

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from spotthebot.kit.errors import Conflict, Unavailable
from tools.builds import ProgramFailed, run


class NotAudited(Unavailable):
    """The pins were not compared with known vulnerabilities: {reason}; --without-audit releases all the same."""


class Vulnerable(Conflict):
    """Packages with known vulnerabilities are pinned: {found}. Renew the pins, or --accept what stops no release."""


def audit(root: Path, accepted: Iterable[str]) -> str:
    """Return pip-audit's report (JSON) on the packages of `requirements.txt`.

    Raises NotAudited if the database does not answer, or knows none or only some of the packages; Vulnerable.
    """
    ignored = [word for each in accepted for word in ("--ignore-vuln", each)]
    options = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json", *ignored)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        try:
            run(sys.executable, "-m", "pip_audit", *options, "-r", "requirements.txt", "-o", report, folder=root)
        except ProgramFailed as error:
            if not report.exists():  # it fails with a report if it finds something
                raise NotAudited(reason=str(error.facts["reason"]).rstrip(".")) from error
        text = report.read_text()
    packages = json.loads(text)["dependencies"]
    found = [f"{each['name']} {known['id']}" for each in packages for known in each.get("vulns", ())]
    if found:
        raise Vulnerable(found=", ".join(found))
    skipped = [each for each in packages if "skip_reason" in each]
    if skipped:
        raise NotAudited(reason=f"of {len(packages)} packages, {len(skipped)} were not found in the database")
    return text
