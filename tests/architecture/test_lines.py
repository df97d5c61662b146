"""Streams of lines are parted at line feeds alone: JSON may hold what `str.splitlines` takes for the end of a line."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("services", "shared", "tools", "docs/examples")
SPLITTING = {"splitlines", "iter_lines", "aiter_lines"}
"""They end lines at U+2028, U+2029, U+0085, vertical tabs, form feeds and lone carriage returns as well."""
NO_STREAMS = {
    "services/spotthebot/local/training/training_loop.py": "the message of an error",
    "services/spotthebot/local/environments.py": "what pip prints",
    "services/spotthebot/local/postgres/postmaster.py": "files of PostgreSQL",
    "shared/spotthebot/inference/models/pretrained.py": "the message of an error",
    "shared/spotthebot/inference/triton/installation.py": "what Triton prints",
}


def _calls(source: str) -> Iterator[str]:
    if not any(each in source for each in SPLITTING):  # to parse takes far longer
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SPLITTING:
            yield node.func.attr


def test_no_stream_is_parted_by_what_unicode_takes_for_the_end_of_a_line():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if any(_calls(path.read_text(encoding="utf-8")))}
    assert found == set(NO_STREAMS), "part bytes at b'\\n' instead, or say here what else is read"
