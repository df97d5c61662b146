"""Which tests can notice a change of a line: those that execute it, or code that depends on it.

Coverage records once, for all mutants of a run, which test executes which line (`CoverageRecorder`). A line that runs
on import, such as a constant, a field or a table's column, or in a function that is called then, is noticed in the
functions that mention a name which was bound so.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.mutations import Mutation

SourceLines = Mapping[str, frozenset[int]]
"""Lines of files, by the file's path below the clone."""
_SOURCES = ("services", "shared", "tools")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Recording:
    """How long each test took, in the order they ran, and what executed each line that was asked for.

    A line is executed by a test, by a test file (in a fixture of more than one test, or in a process that a test
    started), or by "" (on import, or in a fixture of all files).
    """

    seconds: Mapping[str, float]
    lines: Mapping[str, Mapping[int, frozenset[str]]]

    def covering(self, lines: SourceLines, *, and_files: Iterable[str] = ()) -> list[str]:
        """Return the tests that execute any of the lines, and those of some files, a quick file's tests first.

        Lines that only imports and fixtures of all files execute are covered by every test.
        """
        by: set[str] = set(and_files)
        for file, numbers in lines.items():
            for number in numbers:
                by |= self.lines.get(file, {}).get(number, frozenset())
        found = [test for test in self.seconds if test in by or file_of(test) in by]
        if not found and "" in by:
            found = list(self.seconds)
        seconds: defaultdict[str, float] = defaultdict(float)
        for test in found:
            seconds[file_of(test)] += self.seconds[test]
        return sorted(found, key=lambda test: (seconds[file_of(test)], file_of(test)))


class DependentLines:
    """Finds the lines whose execution can show that another line was changed, from the text of a clone's sources."""

    def __init__(self, root: Path) -> None:
        self._trees: dict[str, ast.Module] = {}
        for top in _SOURCES:
            for path in sorted((root / top).rglob("*.py")):
                self._trees[str(path.relative_to(root))] = ast.parse(path.read_text(encoding="utf-8"))

    def runs_on_import(self, mutation: Mutation) -> bool:
        """Say whether a mutated line is in no function's body; defaults in a function's head are bound on import."""
        around = _statements_at(self._trees[mutation.file], mutation.line)
        return not any(isinstance(each, _Function) for each in around[:-1])

    def of(self, mutation: Mutation) -> SourceLines:
        """Return the lines of the mutated statement, or of the function whose head it is, and of what depends on them.

        That are the functions that mention what was bound on import by the statement, or by a call of its function.
        """
        around = _statements_at(self._trees[mutation.file], mutation.line)
        outer, inner = around[0], around[-1]
        lines = frozenset({mutation.line})
        if self.runs_on_import(mutation) and not isinstance(inner, _Function):
            names = {each.name for each in around if isinstance(each, ast.ClassDef)} | _bound(inner)
            names |= self._bound_through(names)
        else:
            lines |= _lines(inner.body) if isinstance(inner, _Function) else _head(inner)
            names = self._bound_through({outer.name}) if isinstance(outer, _Function) else set()
        found = defaultdict(frozenset, {mutation.file: lines})
        for file, mentioned, body in self._bodies:
            if mentioned & names:
                found[file] |= body
        return dict(found)

    def _bound_through(self, names: set[str]) -> set[str]:
        """Return what statements that run on import bind where they mention one of the names, or one bound so."""
        known = set(names)
        while more := {name for mentioned, bound in self._bindings if mentioned & known for name in bound} - known:
            known |= more
        return known - names

    @cached_property
    def _bindings(self) -> list[tuple[set[str], set[str]]]:
        """The names that each statement mentions that runs on import, and those it binds: of a field, its class."""
        return [each for tree in self._trees.values() for each in _bindings(tree.body)]

    @cached_property
    def _bodies(self) -> list[tuple[str, set[str], frozenset[int]]]:
        """The file of each function, the names it mentions, and the lines of its body."""
        return [
            (file, _mentioned(each), _lines(each.body))
            for file, tree in self._trees.items()
            for each in ast.walk(tree)
            if isinstance(each, _Function)
        ]


def file_of(test: str) -> str:
    """Return the file of a test's id."""
    return test.partition("::")[0]


def _statements_at(tree: ast.Module, line: int) -> list[ast.stmt]:
    """Return the statements that a line is in, the outermost first."""
    around = [
        each for each in ast.walk(tree) if isinstance(each, ast.stmt) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return sorted(around, key=lambda each: (each.lineno, -(each.end_lineno or 0), each.col_offset))


def _head(statement: ast.stmt) -> frozenset[int]:
    """Return the lines of a statement, without those of the statements in it."""
    inner = {
        line
        for each in ast.walk(statement)
        if isinstance(each, ast.stmt) and each is not statement
        for line in _lines([each])
    }
    return _lines([statement]) - inner


def _lines(statements: Iterable[ast.stmt]) -> frozenset[int]:
    return frozenset(line for each in statements for line in range(each.lineno, (each.end_lineno or each.lineno) + 1))


def _bindings(body: Iterable[ast.stmt], class_name: str = "") -> Iterable[tuple[set[str], set[str]]]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _bindings(statement.body, statement.name)
        elif not isinstance(statement, _Function):
            yield _mentioned(statement), {class_name} if class_name else _bound(statement)


def _bound(statement: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _mentioned(node: ast.AST) -> set[str]:
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.keyword) and each.arg:
            found.add(each.arg)
    return found
