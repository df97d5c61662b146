"""Which tests belong to what changed: those that import a changed module, and those of its name in its package."""

import ast
import subprocess
from collections.abc import Iterable
from pathlib import Path

_NAMESPACES = ("services", "shared")
"""Folders that hold a package; others are one."""


def changed_files(root: Path) -> list[str]:
    """Return files that differ from where the branch left main, and new ones; on main, from the last commit."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    known = _git(root, "diff", "--name-only", "--diff-filter=d", base[0])
    return sorted({*known, *_git(root, "ls-files", "--others", "--exclude-standard")})


def pick_tests(changed: Iterable[str], root: Path) -> list[str]:
    """Return the test files, as paths below `root`, that belong to changed files."""
    changed = list(changed)
    modules = {module for file in changed if (module := _module_of(file)) is not None}
    picked = {file for file in changed if _is_test(Path(file)) and (root / file).exists()}
    for test in sorted((root / "tests").rglob("test_*.py")):
        path = test.relative_to(root)
        if _imports_of(test) & modules or any(_mirrors(path, module) for module in modules):
            picked.add(str(path))
    return sorted(picked)


def _is_test(path: Path) -> bool:
    return path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py"


def _module_of(file: str) -> str | None:
    """Return the dotted name of a Python file of ours; packages are named without `__init__`."""
    path = Path(file)
    if path.suffix != ".py" or path.parts[0] not in {*_NAMESPACES, "tools", "tests"}:
        return None
    parts = path.with_suffix("").parts[1 if path.parts[0] in _NAMESPACES else 0 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports_of(test: Path) -> set[str]:
    """Return the modules that a file names in its imports; of `from a import b`, both `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _mirrors(test: Path, module: str) -> bool:
    """Say whether a test is of the module's package and bears its name: tests/bots/test_replies.py, bots...replies."""
    parts = module.split(".")
    package = test.parts[1]
    return package in parts[:2] and parts[-1] in test.stem.removeprefix("test_")


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607 - git as the developer has it
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
