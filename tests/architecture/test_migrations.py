"""A revision that runs while the release before still does takes nothing away from it that it reads or writes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.previous_release import files_at, require_previous_revision, text_at

ROOT = Path(__file__).parents[2]
REVISIONS = sorted(
    path for source in (ROOT / "services", ROOT / "shared") for path in source.glob("**/migrations/*_[0-9]*.py")
)
DESTRUCTIVE_SQL = re.compile(
    r"\b(DROP|RENAME|TRUNCATE|DELETE\s+FROM|SET\s+NOT\s+NULL|SET\s+DATA\s+TYPE)\b|\bALTER\s+COLUMN\s+\w+\s+TYPE\b",
    re.IGNORECASE,
)

TAKING_SQL = (
    r"DROP\s+(?:COLUMN|TABLE)\s+(?:IF\s+EXISTS\s+)?(?:\w+\.)?\"?(\w+)",
    r"RENAME\s+COLUMN\s+\"?(\w+)",
    r"ALTER\s+TABLE\s+(?:\w+\.)?(\w+)\s+RENAME\s+TO",
    r"ALTER\s+COLUMN\s+\"?(\w+)\"?\s+(?:SET\s+NOT\s+NULL|TYPE|SET\s+DATA)",
)
NO_CONSTANT = "a name that is no constant"


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


def names_taken(source: str) -> Iterator[str]:
    """Yield the columns and tables that a revision drops, renames or makes stricter, and NOT NULL without a default."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for pattern in TAKING_SQL:
                yield from re.findall(pattern, node.value, re.IGNORECASE)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, keywords = node.func.attr, {each.arg: ast.unparse(each.value) for each in node.keywords}
        if name in {"drop_table", "rename_table"}:
            yield _constant(node, 0)
        if name == "drop_column":
            yield _constant(node, 1)
        if name == "alter_column" and (
            {"new_column_name", "type_"} & keywords.keys() or keywords.get("nullable") == "False"
        ):
            yield _constant(node, 1)
        if name == "add_column" and _is_required_without_default(node):
            yield _constant(node, 0)  # rows of the release before lack it


def _constant(call: ast.Call, place: int) -> str:
    argument = call.args[place] if len(call.args) > place else None
    return str(argument.value) if isinstance(argument, ast.Constant) else NO_CONSTANT


def names_declared(source: str) -> set[str]:
    """Return the tables and columns that a module of tables declares."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__tablename__":
            found.add(str(ast.literal_eval(node.value)))
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] in {"Table", "Column"}
            and node.args
        ):
            found.add(_constant(node, 0))
    return found


class TestRevisionsSinceTheLastRelease:
    def test_leave_it_what_it_reads(self):
        """It runs on them while it is replaced, whether they are `pre` or `post`."""
        release = require_previous_revision()
        faults = []
        for path in REVISIONS:
            place = path.relative_to(ROOT)
            if text_at(release, str(place)):
                continue
            package = place.parents[1]
            modules = [*files_at(release, f"{package}/tables.py"), *files_at(release, f"{package}/tables/*.py")]
            declared = set().union(*(names_declared(text_at(release, each)) for each in modules)) | {NO_CONSTANT}
            faults += [f"{place} takes {name}" for name in names_taken(path.read_text()) if name in declared]
            if "_post_" in path.name:
                files = files_at(release, f"{package}/migrations/*_[0-9]*.py")
                head = max("_".join(Path(each).name.split("_")[:2]) for each in files)
                if f'OLDEST_HEAD = "{head}"' not in path.read_text():
                    faults.append(f'{place} does not say that the last release works with it: OLDEST_HEAD = "{head}"')
        assert faults == []

    @pytest.mark.parametrize(
        ("line", "taken"),
        [
            ('op.drop_column("campaigns", "pay", schema="annotation")', ["pay"]),
            ('op.drop_column("campaigns", name, schema="annotation")', [NO_CONSTANT]),
            ('op.drop_table("campaigns")', ["campaigns"]),
            ('op.rename_table("campaigns", "studies")', ["campaigns"]),
            ('op.alter_column("campaigns", "pay", nullable=False)', ["pay"]),
            ('op.alter_column("campaigns", "pay", new_column_name="fee")', ["pay"]),
            ('op.add_column("campaigns", sa.Column("fee", sa.Text(), nullable=False))', ["campaigns"]),
            ('op.execute("ALTER TABLE annotation.campaigns DROP COLUMN pay")', ["pay"]),
            ('op.execute("alter table annotation.campaigns rename to studies")', ["campaigns"]),
            ('op.execute("ALTER TABLE a ALTER COLUMN pay SET NOT NULL")', ["pay"]),
            ('op.alter_column("campaigns", "pay", nullable=True)', []),
            ('op.add_column("campaigns", sa.Column("fee", sa.Text(), server_default="", nullable=False))', []),
            ('op.drop_index("ix_campaigns_pay", "campaigns")', []),
        ],
    )
    def test_are_read_for_what_they_take(self, line: str, taken: list[str]):
        assert [*names_taken(line)] == taken

    def test_are_compared_with_what_tables_declare(self):
        source = 'class A(Base):\n    __tablename__ = "campaigns"\n    pay: Mapped[int] = mapped_column()\n'
        assert names_declared(source) == {"campaigns", "pay"}
        assert names_declared('made = Table("keys", metadata, Column("id", Text))') == {"keys", "id"}
