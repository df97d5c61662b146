"""Every error is raised with the facts that its message names."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAMILIES = {"Error", "Invalid", "Unauthenticated", "Forbidden", "NotFound", "Conflict", "TooMany", "Unavailable"}
Messages = dict[tuple[str, str], set[str]]
"""The facts that a message names, by the package and the class of its error."""
PLANTED = """
class Gone(NotFound):
    'No {thing} is at {place!r}.'
raise Gone(thing=1)
raise Gone
"""


class TestErrors:
    def test_are_raised_with_the_facts_of_their_messages(self):
        trees = {path: _nodes(path.read_text()) for path in _sources()}
        messages = _messages(trees)
        assert len(messages) > 100
        names = {name for _, name in messages}
        missing = [
            f"{path.relative_to(ROOT)}:{line}: {name} needs {sorted(needed)}"
            for path, tree in trees.items()
            for line, name, given in _raised(tree)
            if name in names
            if (needed := _facts_of(messages, path, name) - given) and "**" not in given
        ]
        assert missing == []

    def test_would_be_noticed_with_a_fact_missing(self):
        tree, path = _nodes(PLANTED), ROOT / "shared" / "spotthebot" / "kit" / "planted.py"
        needed = _facts_of(_messages({path: tree}), path, "Gone")
        missing = [(line, needed - given) for line, name, given in _raised(tree) if name == "Gone"]
        assert sorted(missing, key=lambda found: found[0]) == [(4, {"place"}), (5, {"place", "thing"})]


def _nodes(source: str) -> list[ast.AST]:
    """Return the nodes that matter here: classes, calls and raises."""
    return [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ClassDef | ast.Call | ast.Raise)]


def _sources() -> list[Path]:
    return [path for folder in ("services", "shared") for path in (ROOT / folder).rglob("*.py")]


def _package(path: Path) -> str:
    return path.relative_to(ROOT).parts[2]


def _messages(trees: dict[Path, list[ast.AST]]) -> Messages:
    """Collect the errors without a constructor of their own."""
    classes = [
        (_package(path), node) for path, tree in trees.items() for node in tree if isinstance(node, ast.ClassDef)
    ]
    errors, found = set(FAMILIES), Messages()
    for _ in range(4):  # errors of errors
        for package, node in classes:
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            own = any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in node.body)
            if bases & errors and not own:
                errors.add(node.name)
                message = ast.get_docstring(node) or ""
                found[package, node.name] = {name for _, name, _, _ in string.Formatter().parse(message) if name}
    return found


def _facts_of(messages: Messages, path: Path, name: str) -> set[str]:
    """Return the facts of an error by its name: that of the same package, or the only one of the name."""
    if (_package(path), name) in messages:
        return messages[_package(path), name]
    others = [facts for (_, other), facts in messages.items() if other == name]
    return others[0] if len(others) == 1 else set()


def _raised(tree: list[ast.AST]) -> Iterator[tuple[int, str, set[str]]]:
    """Yield the line, the name and the facts of each call and each bare raise; `**` stands for unknown facts."""
    for node in tree:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id, {each.arg or "**" for each in node.keywords}
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
            yield node.lineno, node.exc.id, set()
