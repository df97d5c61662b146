"""`stb release`: version, changelog, tag and files of a release, made from what is committed; see docs/release.md."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spotthebot.cli.application import main
from spotthebot.kit.errors import Conflict, Invalid
from spotthebot.local.progress import screen
from tools import ROOT
from tools.audit import NotAudited, audit
from tools.builds import build, exported, run
from tools.provenance import NAMESPACE, SUMS, write_provenance, write_sums
from tools.sbom import bill_of_materials
from tools.typescript import make_types
from tools.version_places import check_newer, release_changelog, set_version, version_of


class NotClean(Conflict):
    """The clone has changes that are not committed: {paths}."""


class Released(Conflict):
    """The tag {tag} is there already."""


class NotEmpty(Conflict):
    """The folder {folder} is not empty."""


class NotTheSameBytes(Conflict):
    """Two builds of {name} differ: what is made depends on more than the sources."""


class NoSignature(Invalid):
    """A release is signed: name a private SSH key with --key, or try it with --dry-run."""


def release(
    version: Annotated[str, typer.Argument(help="The new version, such as 0.3.0.")],
    out: Annotated[
        Path, typer.Option(resolve_path=True, help="An empty folder, or a new one, for the files to publish.")
    ] = Path("dist"),
    key: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, resolve_path=True, help="Private SSH key that signs the hashes and the tag."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make the files, and leave branch, tags and working tree as they are.")
    ] = False,
    without_audit: Annotated[
        bool, typer.Option("--without-audit", help="Go on if the database of vulnerabilities can't be reached.")
    ] = False,
    accept: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A known vulnerability that stops no release.")
    ] = None,
) -> None:
    """Make a release of the present commit.

    It writes the version and the changelog, commits and tags them, and makes the files to publish: packages, hashes,
    bill of materials, provenance. A release that fails leaves branch, tags and working tree as they were.
    """
    tag = f"v{version}"
    if key is None and not dry_run:
        raise NoSignature
    if changed := _git("status", "--porcelain").split("\n")[:-1]:
        raise NotClean(paths=", ".join(line[3:] for line in changed[:5]))
    if _git("tag", "--list", tag):
        raise Released(tag=tag)
    previous = version_of(ROOT)
    check_newer(previous, version)
    changelog = release_changelog((ROOT / "CHANGELOG.md").read_text(), version, datetime.now(UTC).date())
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise NotEmpty(folder=out)
    with _worktree() as tree:
        set_version(tree, previous, version)
        (tree / "CHANGELOG.md").write_text(changelog)
        try:
            (out / "audit.json").write_text(audit(tree, accept or ()))
        except NotAudited as error:
            if not without_audit:
                raise
            screen.print(f"[red]Not audited:[/red] {error}", soft_wrap=True)
        run("git", "commit", "--quiet", "--all", "--message", f"release: {version}", folder=tree)
        commit = run("git", "rev-parse", "HEAD", folder=tree).strip()
        _make_files(commit, version, out)
    if key is not None:
        run("ssh-keygen", "-Y", "sign", "-q", "-f", key, "-n", NAMESPACE, out / SUMS, folder=ROOT)
    if not dry_run:
        signed = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key}")
        _git(*signed, "tag", "--sign", "--message", f"Spot The Bot {version}", tag, commit)
        _git("merge", "--quiet", "--ff-only", commit)
    for file in sorted(out.iterdir()):
        screen.print(f"{file}: {file.stat().st_size / 1e6:.1f} MB", highlight=False)
    done = "Dry run: nothing was committed or tagged." if dry_run else f"Publish them: git push origin HEAD {tag}"
    screen.print(done, highlight=False)


def _make_files(commit: str, version: str, out: Path) -> None:
    """Build twice, in folders of their own, from the commit's files alone; write what is published beside it."""
    epoch = int(_git("show", "--no-patch", "--format=%ct", commit))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [exported(ROOT, commit, folder / each) for each in ("first", "second")]
        built = build(sources[0], out, epoch=epoch)
        for file, again in zip(built, build(sources[1], folder / "again", epoch=epoch), strict=True):
            if file.read_bytes() != again.read_bytes():
                raise NotTheSameBytes(name=file.name)
        make_types(sources[0], out, version)
        (out / f"spotthebot-{version}.cdx.json").write_text(bill_of_materials(sources[0], version, epoch))
        (out / "constraints.txt").write_bytes((sources[0] / "constraints.txt").read_bytes())
        write_provenance(sources[0], out, version=version, commit=commit, epoch=epoch)
    write_sums(out)


@contextmanager
def _worktree() -> Iterator[Path]:
    """Lend a working tree of the present commit, on no branch."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "tree"
        _git("worktree", "add", "--quiet", "--detach", tree, "HEAD")
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", tree)


def _git(*arguments: str | Path) -> str:
    return run("git", *arguments, folder=ROOT)


if __name__ == "__main__":
    main("release")
