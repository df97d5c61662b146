"""Lineages with revisions that a test adds: releases that are not there."""

import shutil
from dataclasses import replace
from pathlib import Path

from spotthebot.kit.migrations.lineage import Lineage


def lineage_with(lineage: Lineage, folder: Path, *revisions: str, **of_revision: str) -> Lineage:
    """Copy a lineage to a folder and add revisions, named such as `pre_more`.

    By its name the code of one is given, `pass` where none is; by `NAME_works_with` a line that names its OLDEST_HEAD.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for revision in lineage.revisions.glob("*.py"):
        shutil.copy(revision, folder)
    made = replace(lineage, revisions=folder)
    for name in revisions:
        head = made.head
        number = f"{lineage.schema}_{int(head[-4:]) + 1:04}"
        code = of_revision.get(name, "pass")
        oldest = of_revision.get(f"{name}_works_with", "")
        (folder / f"{number}_{name}.py").write_text(
            f"from alembic import op\nrevision = {number!r}\ndown_revision = {head!r}\n{oldest}\n"
            f"def upgrade() -> None:\n    {code}\n"
        )
        made = replace(lineage, revisions=folder)
    return made
