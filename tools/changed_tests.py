"""Which tests belong to what changed: those that import a changed module, and its own."""

import ast
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tools.own_tests import NAMESPACES, module_of, own_tests


def changed_files(root: Path) -> list[str]:
    """Return files that differ from where the branch left main, and new ones; on main, from the last commit."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    known = _git(root, "diff", "--name-only", "--diff-filter=d", base[0])
    return sorted({*known, *_git(root, "ls-files", "--others", "--exclude-standard")})


def pick_tests(changed: Iterable[str], root: Path) -> list[str]:
    """Return the test files, as paths below `root`, that belong to changed files."""
    changed = list(changed)
    modules = {module_of(path) for path in map(Path, changed) if _is_source(path)}
    tests = [path.relative_to(root) for path in (root / "tests").rglob("test_*.py")]
    picked = {file for file in changed if _is_test(Path(file)) and (root / file).exists()}
    picked |= {str(test) for test in tests if _imports_of(root / test) & modules}
    picked |= {str(test) for module in modules for test in own_tests(module, tests)}
    return sorted(picked)


def _is_test(path: Path) -> bool:
    return path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py"


def _is_source(path: Path) -> bool:
    return path.suffix == ".py" and path.parts[0] in {*NAMESPACES, "tools", "tests"}


def _imports_of(test: Path) -> set[str]:
    """Return the modules that a file names in its imports; of `from a import b`, both `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607 - git as the developer has it
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
