"""Draw docstrings of the services and shared packages at random, to check how many are understood when read once."""

import ast
import random
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT

FOLDERS = ("services", "shared")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Docstring:
    """The text of one docstring, its path, and the kind and signature of its module, class or function."""

    path: Path
    kind: str
    signature: str
    text: str

    def __str__(self) -> str:
        return f"{self.path} ({self.kind})\n{self.signature}\n{_indented(self.text)}\n"


def list_docstrings(root: Path, folders: Sequence[str] = FOLDERS) -> list[Docstring]:
    """Return the docstrings of all modules, classes and functions in `folders` of the repository, ordered by path."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [docstring for path in paths for docstring in _docstrings_of(path, root)]


def draw(docstrings: list[Docstring], count: int, seed: int) -> list[Docstring]:
    """Return `count` of the docstrings, or all if there are fewer. The same list and seed draw the same docstrings."""
    return random.Random(seed).sample(docstrings, min(count, len(docstrings)))  # noqa: S311 # no secret is drawn


def main() -> None:
    """Print drawn docstrings of this repository."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="*", default=FOLDERS, help="where to draw, from the root; all if none is given"
    )
    parser.add_argument("--draw", type=int, default=100, help="how many docstrings are drawn")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same docstrings")
    arguments = parser.parse_args()
    for docstring in draw(list_docstrings(ROOT, arguments.folders), arguments.draw, arguments.seed):
        sys.stdout.write(f"{docstring}\n")


def _docstrings_of(path: Path, root: Path) -> Iterator[Docstring]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, _Documented) and (text := ast.get_docstring(node)):
            kind, signature = _describe(node)
            yield Docstring(path.relative_to(root), kind, signature, text)


def _describe(node: _Documented) -> tuple[str, str]:
    match node:
        case ast.Module():
            return "module", ""
        case ast.ClassDef():
            return "class", f"class {node.name}({', '.join(ast.unparse(base) for base in node.bases)})"
        case _:
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            return "function", f"def {node.name}({ast.unparse(node.args)}){returns}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


if __name__ == "__main__":
    main()
