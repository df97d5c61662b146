"""`stb release` and `stb verify` in a throwaway clone: what is made, what is refused, and what a check notices."""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.architecture.test_requirements import packages_of
from tests.factories.command_line import run_stb
from tools import ROOT, audit, provenance, release, version_places
from tools.builds import ProgramFailed, run
from tools.version_places import PLACES, release_changelog, version_of

KNOWN = {"name": "aiohttp", "version": "3", "vulns": [{"id": "GHSA-1"}]}
RELEASE_PAGE = ROOT / "docs" / "release.md"
CLEAN = {"name": "aiohttp", "version": "3", "vulns": []}
SKIPPED = {"name": "yarl", "skip_reason": "Dependency not found on PyPI"}
needs_programs = pytest.mark.skipif(
    shutil.which("npm") is None or shutil.which("ssh-keygen") is None, reason="npm or ssh-keygen is missing"
)


def _git(clone: Path, *arguments: str) -> str:
    return run("git", *arguments, folder=clone).strip()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is committed, whose next version has an entry in the changelog."""
    folder = tmp_path_factory.mktemp("release") / "clone"
    run("git", "clone", "--quiet", "--shared", ROOT, folder, folder=ROOT)
    changelog = folder / "CHANGELOG.md"
    changelog.write_text(
        changelog.read_text().replace("[Unreleased]\n", "[Unreleased]\n\n### Added\n\n- An entry.\n", 1)
    )
    for name, value in (("user.name", "a releaser"), ("user.email", "releaser@example.org")):
        _git(folder, "config", name, value)
    _git(folder, "commit", "--quiet", "--all", "--message", "an entry")
    return folder


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("key") / "id_ed25519"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file, folder=ROOT)
    return file


@pytest.fixture(scope="module")
def signers(key: Path) -> Path:
    file = key.with_name("signers")
    file.write_text(f'releaser@example.org namespaces="spotthebot-release,git" {key.with_suffix(".pub").read_text()}')
    return file


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder to which the second test of a release writes its files."""
    return tmp_path_factory.mktemp("files") / "dist"


@pytest.fixture(autouse=True)
def in_clone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "clone" in request.fixturenames:
        monkeypatch.setattr(release, "ROOT", request.getfixturevalue("clone"))
    monkeypatch.setattr(audit, "run", _answering([CLEAN]))


def _answering(packages: Sequence[Mapping[str, object]]) -> Callable[..., str]:
    """The database's answer, which is remote and changes: `pip-audit` as if it had got it."""

    def run_audit(*command: str | Path, folder: Path) -> str:
        assert (folder / command[command.index("-r") + 1]).is_file()
        Path(command[-1]).write_text(json.dumps({"dependencies": packages}))
        if any(each.get("vulns") for each in packages):
            raise ProgramFailed(program="pip_audit", reason="it found some")
        return ""

    return run_audit


@needs_programs
class TestRelease:
    def test_is_tried_without_any_trace_in_the_clone(
        self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(audit, "run", _answering([SKIPPED]))
        monkeypatch.setattr(release, "make_types", lambda *_: None)
        before = _git(clone, "rev-parse", "HEAD"), _git(clone, "for-each-ref"), _git(clone, "status", "--porcelain")
        refused = run_stb("release", "9.0.0", "--out", tmp_path / "no", "--dry-run")
        assert "of 1 packages, 1 were not found in the database; --without-audit" in refused.stderr
        done = run_stb("release", "9.0.0", "--out", tmp_path / "out", "--dry-run", "--without-audit")
        assert done.returncode == 0, done.stderr
        assert "Not audited: " in done.stderr
        assert "Dry run: nothing was committed or tagged." in done.stderr
        assert before == (
            _git(clone, "rev-parse", "HEAD"),
            _git(clone, "for-each-ref"),
            _git(clone, "status", "--porcelain"),
        )
        assert not {"audit.json", "SHA256SUMS.sig"} & {each.name for each in (tmp_path / "out").iterdir()}

    def test_commits_tags_and_signs(self, clone: Path, key: Path, signers: Path, files: Path):
        done = run_stb("release", "9.0.0", "--out", files, "--key", key)
        assert done.returncode == 0, done.stderr
        assert "Publish them: git push origin HEAD v9.0.0" in done.stderr
        assert version_of(clone) == "9.0.0"
        assert (
            f"## [Unreleased]\n\n## [9.0.0] - {datetime.now(UTC).date()}\n\n### Added"
            in (clone / "CHANGELOG.md").read_text()
        )
        assert _git(clone, "rev-parse", "v9.0.0^{commit}") == _git(clone, "rev-parse", "HEAD")
        _git(clone, "-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={signers}", "tag", "--verify", "v9.0.0")
        assert _git(clone, "status", "--porcelain") == ""
        assert {each.name for each in files.iterdir()} == {
            *("SHA256SUMS", "SHA256SUMS.sig", "audit.json", "constraints.txt", "provenance.intoto.json"),
            *("spotthebot-9.0.0-py3-none-any.whl", "spotthebot-9.0.0.tar.gz", "spotthebot-9.0.0.cdx.json"),
            "spotthebot-types-9.0.0.tgz",
        }
        run("sha256sum", "--quiet", "--check", "SHA256SUMS", folder=files)

    def test_lists_the_pins_of_the_suite_as_its_materials(self, files: Path):
        text = (files / "spotthebot-9.0.0.cdx.json").read_text()
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        listed = json.loads(text)["components"]
        here = {(each["name"], each["version"]) for each in listed}
        assert packages_of("suite").items() <= {(re.sub(r"[-_.]+", "-", name).lower(), at) for name, at in here}
        hashes = {each["content"] for row in listed for each in row["externalReferences"][0]["hashes"]}
        assert all(len(each) == 64 for each in hashes)
        pins = (ROOT / "requirements.txt").read_text()
        assert all(each in pins for each in hashes)

    def test_is_verified_by_its_signer_alone(
        self, clone: Path, files: Path, signers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        shutil.copy(signers, tmp_path / "signers")
        (tmp_path / "dist").symlink_to(files)
        monkeypatch.chdir(tmp_path)
        done = run_stb("verify", "dist", "--signers", "signers")
        assert done.returncode == 0, done.stderr
        commit = _git(clone, "rev-parse", "HEAD")
        assert done.stderr == f"releaser@example.org signed these files, built from {commit}.\n"
        (documented,) = re.findall(r"^```\n\./stb verify .*\n((?:.+\n)+)```", RELEASE_PAGE.read_text(), re.MULTILINE)
        assert documented.startswith("ssh-keygen -Y verify")
        assert "audit.json: OK" in run("bash", "-e", "-c", documented, folder=tmp_path)
        other = tmp_path / "other"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other, folder=ROOT)
        strangers = tmp_path / "strangers"
        strangers.write_text(f"releaser@example.org {other.with_suffix('.pub').read_text()}")
        assert run_stb("verify", files, "--signers", strangers).returncode == 1
        strangers.write_text(signers.read_text().replace("spotthebot-release,git", "git"))
        assert run_stb("verify", files, "--signers", strangers).returncode == 1

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda folder: (folder / "constraints.txt").write_text("x"), "constraints.txt has other content"),
            (lambda folder: (folder / "audit.json").unlink(), "audit.json is missing"),
            (lambda folder: (folder / "more.whl").write_text("x"), "more.whl was added"),
            (lambda folder: _edit(folder / "SHA256SUMS", "0", "1"), "Signature verification failed"),
        ],
        ids=["changed", "missing", "added", "sums"],
    )
    def test_changed_afterwards_is_noticed(
        self, files: Path, signers: Path, tmp_path: Path, change: Callable[[Path], object], says: str
    ):
        changed = shutil.copytree(files, tmp_path / "changed")
        change(changed)
        done = run_stb("verify", changed, "--signers", signers)
        assert done.returncode == 1
        assert says in done.stderr

    def test_with_the_provenance_of_other_files_is_noticed(self, files: Path, key: Path, signers: Path, tmp_path: Path):
        changed = shutil.copytree(files, tmp_path / "changed")
        (changed / "SHA256SUMS.sig").unlink()
        (changed / "constraints.txt").write_text("x")
        provenance.write_sums(changed)
        run("ssh-keygen", "-Y", "sign", "-f", key, "-n", provenance.NAMESPACE, "SHA256SUMS", folder=changed)
        done = run_stb("verify", changed, "--signers", signers)
        assert "the provenance is of another constraints.txt" in done.stderr

    @pytest.mark.usefixtures("clone")
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["9.0.0", "--dry-run"], "The tag v9.0.0 is there already."),
            (["9.0.1"], "name a private SSH key with --key"),
            (["9.0.1", "--dry-run"], "CHANGELOG.md has no entries under [Unreleased]."),
            (["8.9.9", "--dry-run"], "8.9.9 is no version above 9.0.0"),
            (["9.1", "--dry-run"], "9.1 is no version above 9.0.0"),
        ],
    )
    def test_is_refused_a_second_time(self, tmp_path: Path, arguments: list[str], says: str):
        refused = run_stb("release", *arguments, "--out", tmp_path / "out")
        assert (refused.returncode, says in refused.stderr) == (1, True), refused.stderr

    def test_is_refused_with_changes_that_are_not_committed(self, clone: Path, tmp_path: Path):
        (clone / "new.py").write_text("")
        refused = run_stb("release", "9.0.1", "--out", tmp_path, "--dry-run")
        (clone / "new.py").unlink()
        assert "changes that are not committed: new.py." in refused.stderr


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new, 1))


class TestAudit:
    def test_names_what_is_known_of_the_pins(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(audit, "run", _answering([KNOWN, CLEAN]))
        with pytest.raises(audit.Vulnerable, match="are pinned: aiohttp GHSA-1"):
            audit.audit(ROOT, ())

    def test_is_none_if_packages_were_skipped(self, monkeypatch: pytest.MonkeyPatch):
        """pip-audit reports 'no known vulnerabilities' if its database answered nothing."""
        monkeypatch.setattr(audit, "run", _answering([CLEAN, SKIPPED]))
        with pytest.raises(audit.NotAudited, match="of 2 packages, 1 were not found"):
            audit.audit(ROOT, ())

    def test_without_a_network_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """The real program, whose every request goes to a port where nothing listens."""
        monkeypatch.setattr(audit, "run", run)
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        (tmp_path / "requirements.txt").write_text(f"yarl==1.25.1 --hash=sha256:{'0' * 64}\n")
        with pytest.raises(audit.NotAudited):
            audit.audit(tmp_path, ())


class TestVersions:
    def test_are_the_same_in_every_place(self):
        version = version_of(ROOT)
        found = {
            (file, form): (ROOT / file).read_text().count(form.format(version))
            for file in PLACES
            for form in PLACES[file]
        }
        assert {place for place, count in found.items() if count != 1} == set()

    def test_change_in_every_place_or_in_none_that_lacks_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(version_places, "PLACES", {"one": ("is {}",)})
        (tmp_path / "one").write_text("is 1.2.3\nis 1.2.3\n")
        with pytest.raises(
            version_places.PlaceNotFound, match=r"one does not state the version 1\.2\.3 once, as 'is 1\.2\.3'"
        ):
            version_places.set_version(tmp_path, "1.2.3", "1.10.0")

    def test_have_entries_in_the_changelog(self):
        text = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n"
        made = release_changelog(text, "0.2.0", date(2026, 2, 3))
        assert made == text.replace("[Unreleased]\n", "[Unreleased]\n\n## [0.2.0] - 2026-02-03\n")
        with pytest.raises(version_places.NothingToRelease):
            release_changelog(made, "0.3.0", date(2026, 2, 4))
        with pytest.raises(version_places.UnknownHeading, match="'Improved'"):
            release_changelog(text.replace("Added", "Improved"), "0.2.0", date(2026, 2, 3))
