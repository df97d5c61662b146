"""Text that others wrote, made fit to be kept and shown."""

import re

INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that are no text, or that reorder what stands around them (bidirectional overrides and isolates)."""
_LONGEST_DETAIL = 300
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a cell begins that a spreadsheet runs (OWASP, CSV Injection): some take the wide forms of = + - @ as well."""
_PATH = re.compile(r"(?<![\w:/.~-])(?:file://|~)?/(?:[^\s/'\"`:;,()<>|]+/)+")


def printable(text: str) -> str:
    """Make what a stranger's server said fit for a message: one line, nothing invisible, not long."""
    cleaned = " ".join(INVISIBLE.sub("\ufffd", text).split())
    return cleaned if len(cleaned) <= _LONGEST_DETAIL else f"{cleaned[:_LONGEST_DETAIL]}…"


def without_formula(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet takes for a formula: one that looks like it gets an apostrophe before.

    >>> print(without_formula("=1+1"), without_formula("1+1"))
    '=1+1 1+1
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def without_paths(text: str) -> str:
    """Leave of each absolute path in a message its last part: callers need not know where a server keeps its files.

    >>> without_paths("Unable to open /srv/models/gpt/config.json (see https://example.org/a/b)")
    'Unable to open config.json (see https://example.org/a/b)'
    """
    return _PATH.sub("", text)
