"""Mutations of Python source: small changes, each of which some test should notice.

A mutation replaces a piece of a file's text, so that its difference is a line or two. Changed are comparisons,
arithmetic, boundaries, constants, conditions, `not`, `and` and `or`, minimum and maximum, returned values, whole
statements, and the comparisons and joins of SQL. Docstrings, other texts, logging, type annotations, decorators,
`__repr__` and `__str__` are left alone, and so is `strict=True` of `zip`, which only asserts that lengths are equal.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Final

_COMPARISONS: Final = {
    ast.Lt: (r"<", ("<=", ">=")),
    ast.LtE: (r"<=", ("<", ">")),
    ast.Gt: (r">", (">=", "<=")),
    ast.GtE: (r">=", (">", "<")),
    ast.Eq: (r"==", ("!=",)),
    ast.NotEq: (r"!=", ("==",)),
    ast.Is: (r"\bis\b", ("is not",)),
    ast.IsNot: (r"\bis\s+not\b", ("is",)),
    ast.In: (r"\bin\b", ("not in",)),
    ast.NotIn: (r"\bnot\s+in\b", ("in",)),
}
_ARITHMETIC: Final = {
    ast.Add: (r"\+", "-"),
    ast.Sub: (r"-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: (r"/", "*"),
    ast.FloorDiv: (r"//", "*"),
    ast.Mod: (r"%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.BitAnd: (r"&", "|"),
    ast.BitOr: (r"\|", "&"),
}
_EXTREMES: Final = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
}
_SQL: Final = (
    (r"<=", "<"),
    (r">=", ">"),
    (r"(?<=\s)<(?=\s)", "<="),
    (r"(?<=\s)>(?=\s)", ">="),
    (r"\bNOT EXISTS\b", "EXISTS"),
    (r"\bLEFT JOIN\b", "JOIN"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bIS NULL\b", "IS NOT NULL"),
    (r"\bIS DISTINCT FROM\b", "<>"),
    (r"\bAND NOT\b", "AND"),
    (r"\bAND\b", "OR"),
    (r"\bOR\b", "AND"),
    (r"\bDESC\b", "ASC"),
    (r"\bLEAST\b", "GREATEST"),
    (r"\bGREATEST\b", "LEAST"),
)
_IS_SQL: Final = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b.*\b(FROM|WHERE|VALUES|SET)\b", re.DOTALL)
_LOGS: Final = frozenset({"_log", "log", "logger", "warnings"})
_TEXTS: Final = frozenset({"__repr__", "__str__"})
_TYPES: Final = frozenset({"None", "int", "float", "str", "bytes", "bool"})
_DROPPED: Final = (ast.AugAssign, ast.Raise, ast.Delete, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Mutation:
    """The bytes from `start` to `end` of a file are replaced with `text`; `line` is where they begin."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    def apply(self, source: str) -> str:
        """Return the mutated source."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()

    def is_python(self, source: str) -> bool:
        """Say whether the mutated source can be compiled: SQL and brackets may leave none."""
        try:
            compile(self.apply(source), self.file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        return True

    def difference(self, source: str) -> str:
        """Return the unified difference, without lines around it."""
        before, after = source.splitlines(), self.apply(source).splitlines()
        return "\n".join(list(difflib.unified_diff(before, after, self.file, self.file, n=0, lineterm=""))[2:])


def find_mutations(file: str, source: str) -> list[Mutation]:
    """Return all mutations of a file, in the order of their places."""
    found = set(_Finder(file, source).find())
    return sorted(found, key=lambda each: (each.start, each.end, each.kind, each.text))


class _Finder:
    """Walks one file's syntax tree."""

    def __init__(self, file: str, source: str) -> None:
        self._file, self._raw, self._tree = file, source.encode(), ast.parse(source)
        self._lines = [0]
        for line in self._raw.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def find(self) -> Iterator[Mutation]:
        yield from self._walk(self._tree)

    def _walk(self, node: ast.AST) -> Iterator[Mutation]:
        if _is_left_alone(node):
            return
        yield from self._of(node)
        if isinstance(node, ast.stmt):
            yield from self._dropped(node)
        if isinstance(node, ast.JoinedStr):
            return  # before Python 3.12 nodes inside have no true places
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"} or (name == "keywords" and _asserts_lengths(node)):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._walk(child)

    @singledispatchmethod
    def _of(self, node: ast.AST) -> Iterator[Mutation]:  # noqa: ARG002 - nodes that are not mutated themselves
        yield from ()

    @_of.register
    def _(self, node: ast.Compare) -> Iterator[Mutation]:
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pattern, others = _COMPARISONS[type(operator)]
            for other in others:
                yield from self._between(left, right, pattern, other, "comparison")
            left = right

    @_of.register
    def _(self, node: ast.BinOp) -> Iterator[Mutation]:
        if type(node.op) in _ARITHMETIC and not _is_type_union(node):
            pattern, other = _ARITHMETIC[type(node.op)]
            yield from self._between(node.left, node.right, pattern, other, "arithmetic")

    @_of.register
    def _(self, node: ast.AugAssign) -> Iterator[Mutation]:
        if type(node.op) in _ARITHMETIC:
            pattern, other = _ARITHMETIC[type(node.op)]
            yield from self._between(node.target, node.value, f"{pattern}(?==)", other, "arithmetic")

    @_of.register
    def _(self, node: ast.BoolOp) -> Iterator[Mutation]:
        word, other, neutral = ("and", "or", "True") if isinstance(node.op, ast.And) else ("or", "and", "False")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from self._between(left, right, rf"\b{word}\b", other, "and, or")
        for value in node.values:
            yield self._replaced(value, neutral, "condition")

    @_of.register
    def _(self, node: ast.UnaryOp) -> Iterator[Mutation]:
        begin = self._start(node)
        if isinstance(node.op, ast.Not):
            yield self._change(begin, begin + len("not "), "", "not")
        elif isinstance(node.op, ast.USub):
            yield self._change(begin, begin + len("-"), "", "arithmetic")

    @_of.register(ast.If)
    @_of.register(ast.IfExp)
    def _(self, node: ast.If | ast.IfExp) -> Iterator[Mutation]:
        for value in ("True", "False"):
            yield self._replaced(node.test, value, "condition")

    @_of.register
    def _(self, node: ast.While) -> Iterator[Mutation]:
        yield self._replaced(node.test, "False", "condition")

    @_of.register
    def _(self, node: ast.comprehension) -> Iterator[Mutation]:
        for condition in node.ifs:
            yield self._replaced(condition, "True", "condition")

    @_of.register
    def _(self, node: ast.Constant) -> Iterator[Mutation]:
        value = node.value
        if isinstance(value, bool):
            yield self._replaced(node, str(not value), "constant")
        elif isinstance(value, int):
            yield self._replaced(node, str(value + 1), "boundary")
            yield self._replaced(node, str(value - 1), "boundary")
        elif isinstance(value, float):
            yield self._replaced(node, repr(value + 1), "constant")
        elif isinstance(value, str):
            yield from self._sql(node)

    @_of.register
    def _(self, node: ast.JoinedStr) -> Iterator[Mutation]:
        yield from self._sql(node)

    @_of.register(ast.Name)
    @_of.register(ast.Attribute)
    def _(self, node: ast.Name | ast.Attribute) -> Iterator[Mutation]:
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name in _EXTREMES and isinstance(node.ctx, ast.Load):
            end = self._end(node)
            yield self._change(end - len(name), end, _EXTREMES[name], "extreme")

    @_of.register
    def _(self, node: ast.Return) -> Iterator[Mutation]:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield self._replaced(node, "return None", "returned value")

    def _dropped(self, node: ast.stmt) -> Iterator[Mutation]:
        """Drop a statement, unless a name would stay undefined, which every test notices."""
        if isinstance(node, ast.Expr):
            is_effect = isinstance(node.value, (ast.Call, ast.Await))
        elif isinstance(node, ast.Assign):
            is_effect = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
        else:
            is_effect = isinstance(node, _DROPPED)
        if is_effect:
            yield self._replaced(node, "pass", "statement")

    def _sql(self, node: ast.Constant | ast.JoinedStr) -> Iterator[Mutation]:
        begin, end = self._start(node), self._end(node)
        source = self._raw[begin:end].decode()
        if not _IS_SQL.search(source):
            return
        for pattern, other in _SQL:
            for match in re.finditer(pattern, source):
                start = begin + len(source[: match.start()].encode())
                yield self._change(start, start + len(match[0].encode()), other, "SQL")

    def _between(self, left: ast.expr, right: ast.expr, pattern: str, text: str, kind: str) -> Iterator[Mutation]:
        """Replace an operator, which stands between its operands beside brackets and blanks."""
        begin = self._end(left)
        match = re.search(pattern, self._raw[begin : self._start(right)].decode())
        if match is not None:
            yield self._change(begin + match.start(), begin + match.end(), text, kind)

    def _replaced(self, node: ast.expr | ast.stmt, text: str, kind: str) -> Mutation:
        return self._change(self._start(node), self._end(node), text, kind)

    def _change(self, start: int, end: int, text: str, kind: str) -> Mutation:
        return Mutation(self._file, self._raw[:start].count(b"\n") + 1, kind, start, end, text)

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return name in _TEXTS
        case (
            ast.Import()
            | ast.ImportFrom()
            | ast.If(test=ast.Name(id="TYPE_CHECKING"))
            | ast.Expr(value=ast.Constant())  # a docstring
            | ast.Assign(targets=[ast.Name(id="__all__")])
            | ast.Call(func=ast.Name(id="cast" | "NewType" | "TypeVar"))
        ):
            return True
        case ast.Expr(value=ast.Call(func=function)) | ast.Expr(value=ast.Await(value=ast.Call(func=function))):
            return _root(function) in _LOGS
    return False


def _asserts_lengths(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="zip"), keywords=[ast.keyword(arg="strict", value=ast.Constant(value=True))]):
            return True
    return False


def _root(function: ast.expr) -> str:
    while isinstance(function, ast.Attribute):
        function = function.value
    return function.id if isinstance(function, ast.Name) else ""


def _is_type_union(node: ast.BinOp) -> bool:
    """Say whether a `|` joins types, as in an alias: None, or names that begin with a capital letter."""
    if not isinstance(node.op, ast.BitOr):
        return False
    sides = (node.left, node.right)
    names = [ast.unparse(side).split(".")[-1] for side in sides]
    return all(name in _TYPES or name[:1].isupper() for name in names)
