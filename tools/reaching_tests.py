"""Which test files can notice a change of a module: its own, and those whose imports lead to it."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tools.own_tests import NAMESPACES, module_of, own_tests

_FAR = 1000


class ImportGraph:
    """The imports between all modules and tests of a clone, read from their text.

    `from package import name` counts as an import of the module from which the package itself has the name. A test file
    imports the `conftest.py` of its folder and of those above.
    """

    def __init__(self, root: Path) -> None:
        self._file: dict[str, Path] = {}
        for top in (*NAMESPACES, "tools", "tests"):
            for path in sorted((root / top).rglob("*.py")):
                self._file[module_of(path.relative_to(root))] = path
        self._root = root
        trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in self._file.items()}
        self._names = {
            module: _imported_names(trees[module]) for module, path in self._file.items() if path.name == "__init__.py"
        }
        self._importers: dict[str, set[str]] = defaultdict(set)
        for module, tree in trees.items():
            for imported in self._imports(module, tree):
                self._importers[imported].add(module)

    def nearest(self, file: str) -> list[str]:
        """Return the test files nearest to a source file, its own first.

        Nearest are its own, those that import it, and those that import the package which it is in. A module without
        any of them is reached through other modules: nearest are then those of its package, or of all, to which the
        fewest imports lead.
        """
        module = module_of(Path(file))
        distances, around = self._distances(module), self._importers[module.rpartition(".")[0]]
        tests = {path.relative_to(self._root): name for name, path in self._file.items() if _is_test(path)}
        own = own_tests(module, tests)
        near = {test for test, name in tests.items() if distances.get(name) == 1 or name in around} | own
        if not near:
            of_package = [test for test in tests if test.is_relative_to(Path("tests", module.split(".")[1]))]
            far = {test: distances.get(tests[test], _FAR) for test in of_package or tests}
            near = {test for test, distance in far.items() if distance == min(far.values())}
        return [str(test) for test in sorted(near, key=lambda test: (test not in own, test))]

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


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_")


def _imported_names(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
