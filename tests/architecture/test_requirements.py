"""What is installed is known by its hash: packages, and the images that services stand on."""

import ast
import json
import platform
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from spotthebot.contracts.services import SERVICE_NAMES
from tools.downloads import DOWNLOADS_FILE, pins_digest
from tools.pins import BUILD, EXTRAS

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"([\w.-]+)==(\S+)(?: ; (.+?))?((?: --hash=sha256:[0-9a-f]{64})+)  # ([a-z ]+)")
PUBLISHED_BY = packages_distributions()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
BESIDE = {"analytics": "notebooks", "bots": "models", "fed": "models"}
"""What people add who use a service's statistics as a library, or run models in it."""
PASSED_ON = {"web": {"pyarrow"}}
"""The pages hand on files that other services made, and write none."""
BY_TAG = {"docker/triton.Dockerfile"}
"""No digest is published beside NVIDIA's tags, and none could be looked up where this was written."""


def requirement_lines() -> list[re.Match[str]]:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    found = [LINE.fullmatch(line) for line in lines]
    assert None not in found, lines[found.index(None)][:100]
    return [each for each in found if each is not None]


def packages_of(part: str) -> dict[str, str]:
    """Return name and version of the packages of a part that this machine installs."""
    return {
        canonicalize_name(line[1]): line[2]
        for line in requirement_lines()
        if part in line[5].split() and (line[3] is None or Marker(line[3]).evaluate())
    }


def needed(requirements: list[Requirement], seen: set[tuple[str, str]] | None = None) -> Iterator[str]:
    """Yield all packages that requirements lead to here, by the metadata of what is installed."""
    seen = set() if seen is None else seen
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in seen or name == "spotthebot":
                continue
            seen.add((name, extra))
            yield name
            try:
                listed = map(Requirement, distribution(name).requires or ())
            except PackageNotFoundError:
                continue
            yield from needed([each for each in listed if _applies(each, extra)], seen)


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _direct(extra: str) -> list[Requirement]:
    found = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    waiting = [extra]
    while waiting:
        for each in map(Requirement, PROJECT["project"]["optional-dependencies"][waiting.pop()]):
            if each.name == "spotthebot":
                waiting += each.extras
            else:
                found.append(each)
    return found


def imported_by(service: str) -> set[str]:
    """Return the modules of other projects that a service and what it uses of ours import, at once or later."""
    found = (ROOT / "services" / "spotthebot" / service).rglob("*.py")
    waiting = [path for path in found if "_downloads" not in path.parts]  # a built site's
    seen: set[Path] = set()
    outside: set[str] = set()
    while waiting:
        if (path := waiting.pop()) in seen:
            continue
        seen.add(path)
        for name in imports_of(path):
            if name.split(".")[0] == "spotthebot":
                waiting += _files(name)
            else:
                outside.add(name.split(".")[0])
    return outside - sys.stdlib_module_names


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return what a file imports, but for types alone."""
    return imports_in(ast.parse(path.read_text()))


def imports_in(code: ast.AST) -> frozenset[str]:
    """Return what code imports, but for types alone."""
    found: set[str] = set()
    waiting: list[ast.AST] = [code]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{each.name}" for each in node.names}
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def _files(module: str) -> list[Path]:
    bases = [ROOT / part / Path(*module.split(".")) for part in ("services", "shared")]
    return [file for base in bases for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]


class TestRequirements:
    @pytest.mark.parametrize("service", SERVICE_NAMES)
    def test_name_all_that_a_service_imports_at_once_or_later(self, service: str):
        """An environment with all services hides what one of them forgot; its image does not."""
        given = set(packages_of(service)) | set(packages_of("tracing"))
        given |= {canonicalize_name(each.name) for each in _direct(BESIDE.get(service, service))}
        missing = {
            module: by
            for module in imported_by(service) - PASSED_ON.get(service, set())
            if (by := {canonicalize_name(each) for each in PUBLISHED_BY.get(module, ())}) and not by & given
        }
        assert missing == {}, f"name them in the extra {service}, then ./stb pins"

    @pytest.mark.parametrize("extra", EXTRAS)
    def test_hold_all_that_a_part_needs(self, extra: str):
        assert set(needed(_direct(extra))) - set(packages_of(extra)) == set()

    def test_for_the_notebook_are_what_it_and_its_document_say_to_install(self):
        """A fresh environment holds what the one documented command brings, and no more."""
        command = re.compile(r'pip install \\?"\.\[(\w+)\]')
        notebook = ROOT / "docs" / "examples" / "rank_bots.ipynb"
        (extra,) = {
            *command.findall((ROOT / "docs" / "statistics.md").read_text()),
            *command.findall(notebook.read_text()),
        }
        given = set(needed(_direct(extra)))
        cells = json.loads(notebook.read_text())["cells"]
        code = "".join("".join(each["source"]) + "\n" for each in cells if each["cell_type"] == "code")
        imported = {name.split(".")[0] for name in imports_in(ast.parse(code))} - {
            "spotthebot",
            *sys.stdlib_module_names,
        }
        imported |= imported_by("analytics/stats")
        assert {module for module in imported if not given & {*map(canonicalize_name, PUBLISHED_BY[module])}} == set()

    def test_hold_the_build_backend(self):
        backend = [Requirement(each) for each in PROJECT["build-system"]["requires"]]
        pinned = {each.name: str(each.specifier).removeprefix("==") for each in backend}
        assert pinned.items() <= packages_of(BUILD).items()

    def test_have_the_versions_of_the_constraints(self):
        pins = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
        constrained = {canonicalize_name(name): version for name, version in pins}
        other = {
            (name, version): constrained[name]
            for line in requirement_lines()
            if (name := canonicalize_name(line[1])) in constrained and (version := line[2]) != constrained[name]
        }
        assert other == {}, "renew them: ./stb pins"


class TestDownloads:
    """What `./stb` says of its downloads before it begins."""

    KNOWN = json.loads((ROOT / DOWNLOADS_FILE).read_text())

    def test_are_those_of_the_present_pins(self):
        assert self.KNOWN["pins"] == pins_digest(ROOT), "renew them: ./stb pins"

    def test_are_as_many_packages_as_are_pinned(self):
        here = self.KNOWN["suite"].get(f"{sys.platform}-{platform.machine()}", {})
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        if version not in here:
            pytest.skip("the sizes on this machine are not known")
        assert here[version]["packages"] == len(packages_of("suite") | packages_of(BUILD))


def test_images_stand_on_bases_that_are_known_by_their_digest():
    found = {recipe: _bases(recipe.read_text()) for recipe in sorted((ROOT / "docker").glob("*Dockerfile"))}
    assert all(found.values())
    unpinned = {
        str(recipe.relative_to(ROOT))
        for recipe, bases in found.items()
        if not all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)
    }
    assert unpinned == BY_TAG


def _bases(recipe: str) -> list[str]:
    """Return the images that a recipe begins with, under its own arguments."""
    arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", recipe, re.MULTILINE))
    return [_resolved(base, arguments) for base in re.findall(r"^FROM (\S+)", recipe, re.MULTILINE)]


def _resolved(text: str, arguments: dict[str, str]) -> str:
    """Return a text with the arguments' values, which may name others, in place of their names."""
    while (resolved := re.sub(r"\$\{(\w+)\}", lambda each: arguments[each[1]], text)) != text:
        text = resolved
    return text
