"""A revision that runs while the release before still does takes nothing away from it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REVISIONS = sorted(
    path for source in (ROOT / "services", ROOT / "shared") for path in source.glob("**/migrations/*_[0-9]*.py")
)
DESTRUCTIVE_SQL = re.compile(
    r"\b(DROP|RENAME|TRUNCATE|DELETE\s+FROM|SET\s+NOT\s+NULL|SET\s+DATA\s+TYPE)\b|\bALTER\s+COLUMN\s+\w+\s+TYPE\b",
    re.IGNORECASE,
)


def destructive_operations(source: str) -> Iterator[str]:
    """Yield what would break a release that does not know the revision: drops, renames, and stricter columns."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (found.group(0) for found in DESTRUCTIVE_SQL.finditer(node.value))
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, keywords = node.func.attr, {each.arg: each.value for each in node.keywords}
        if name.startswith("drop_") or name == "rename_table":
            yield name
        if name == "alter_column":
            yield from (f"{name}({argument})" for argument in ("new_column_name", "type_") if argument in keywords)
            yield from (
                f"{name}({argument}={value})"
                for argument, value in (("nullable", False), ("server_default", None))
                if argument in keywords and ast.unparse(keywords[argument]) == str(value)
            )
        if name == "add_column" and _is_required_without_default(node):
            yield "add_column(nullable=False)"


def _is_required_without_default(adding: ast.Call) -> bool:
    for argument in adding.args:
        if isinstance(argument, ast.Call):
            keywords = {each.arg: ast.unparse(each.value) for each in argument.keywords}
            return keywords.get("nullable") == "False" and "server_default" not in keywords
    return False


class TestPreMigrations:
    @pytest.mark.parametrize("path", [each for each in REVISIONS if "_pre_" in each.name], ids=lambda path: path.stem)
    def test_take_nothing_away(self, path: Path):
        assert [*destructive_operations(path.read_text())] == [], "move it to a `post` revision"

    @pytest.mark.parametrize(
        "line",
        [
            'op.drop_column("conversations", "participants", schema="conversations")',
            'op.drop_index("ix", "conversations")',
            'op.drop_table("conversations")',
            'op.rename_table("a", "b")',
            'op.alter_column("conversations", "pair", nullable=False)',
            'op.alter_column("collections", "state", server_default=None)',
            'op.alter_column("deliveries", "a", new_column_name="b")',
            'op.add_column("a", sa.Column("b", sa.Text(), nullable=False))',
            'op.execute("ALTER TABLE a\\n DROP  CONSTRAINT b")',
            'op.execute("alter table a rename to b")',
            'op.execute(f"DELETE FROM {schema}.a")',
        ],
    )
    def test_would_not_hide_a_destructive_operation(self, line: str):
        assert [*destructive_operations(line)]

    @pytest.mark.parametrize(
        "line",
        [
            'op.alter_column("bots", "protocol", nullable=True)',
            'op.add_column("a", sa.Column("b", sa.Text(), server_default="", nullable=False))',
            'op.add_column("a", sa.Column("b", sa.Text(), nullable=True))',
            'op.create_table("a", sa.Column("b", sa.Text(), nullable=False))',
        ],
    )
    def test_may_add_and_loosen(self, line: str):
        assert [*destructive_operations(line)] == []


def test_every_revision_says_when_it_runs():
    assert [path.name for path in REVISIONS if not re.fullmatch(r"[a-z]+_\d{4}_(pre|post)_\w+\.py", path.name)] == []
