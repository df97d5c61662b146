"""Which test files can notice a change of a module: those whose imports lead to it, the nearest first."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_NAMESPACES = ("services", "shared")
"""Folders that hold a package; others are one."""
_FAR = 1000


class ImportGraph:
    """The imports between all modules and tests of a clone, read from their text.

    `from package import name` counts as an import of the module from which the package itself has the name. A test file
    imports the `conftest.py` of its folder and of those above.
    """

    def __init__(self, root: Path) -> None:
        self._file: dict[str, Path] = {}
        for top in (*_NAMESPACES, "tools", "tests"):
            for path in sorted((root / top).rglob("*.py")):
                self._file[_module_of(path.relative_to(root))] = path
        self._root = root
        trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in self._file.items()}
        self._names = {
            module: _imported_names(trees[module]) for module, path in self._file.items() if path.name == "__init__.py"
        }
        self._importers: dict[str, set[str]] = defaultdict(set)
        for module, tree in trees.items():
            for imported in self._imports(module, tree):
                self._importers[imported].add(module)

    @property
    def tests(self) -> list[str]:
        """All test files of the clone."""
        below = (path.relative_to(self._root) for path in self._file.values())
        return [str(path) for path in below if path.parts[0] == "tests" and path.name.startswith("test_")]

    def stages(self, file: str) -> tuple[list[str], list[str]]:
        """Return the test files nearest to a source file, and the others of its package, in `tests/<package>`.

        Nearest are those that few imports lead to, and those that import the package which the module is in. Those to
        which no import leads come last: a running service may reach the module all the same.
        """
        module = _module_of(Path(file))
        distances, around = self._distances(module), self._importers[module.rpartition(".")[0]]
        folder = Path("tests", module.split(".")[1])
        found = []
        for name, path in self._file.items():
            test = path.relative_to(self._root)
            distance = distances.get(name, _FAR)
            if path.name.startswith("test_") and (distance == 1 or test.is_relative_to(folder)):
                found.append((distance, module.split(".")[-1] not in path.stem, str(test), name in around))
        found.sort()
        nearest = [test for distance, _, test, is_around in found if distance == found[0][0] or is_around]
        return nearest, [test for _, _, test, _ in found if test not in nearest]

    def _distances(self, module: str) -> dict[str, int]:
        distances, reached = {module: 0}, [module]
        while reached:
            following = []
            for each in reached:
                for importer in sorted(self._importers[each] - distances.keys()):
                    distances[importer] = distances[each] + 1
                    following.append(importer)
            reached = following
        return distances

    def _imports(self, module: str, tree: ast.Module) -> Iterable[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self._file)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    yield self._resolve(node.module, alias.name)
        if module.startswith("tests."):
            parts = module.split(".")
            above = (".".join([*parts[:depth], "conftest"]) for depth in range(1, len(parts)))
            yield from (conftest for conftest in above if conftest in self._file and conftest != module)

    def _resolve(self, module: str, name: str) -> str:
        while f"{module}.{name}" not in self._file:
            if name not in self._names.get(module, {}):
                return module
            module = self._names[module][name]
        return f"{module}.{name}"


def _module_of(file: Path) -> str:
    parts = file.with_suffix("").parts[1 if file.parts[0] in _NAMESPACES else 0 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_names(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
