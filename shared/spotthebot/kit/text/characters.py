"""Cleans text that strangers wrote, so that it can be stored and shown."""

import re
import unicodedata

_UNFIT = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff"
UNFIT = re.compile(f"[{_UNFIT}]")
"""Characters that are not text, or that override or embed a direction, which Unicode advises against (UAX #9, 2.7).

Isolates (U+2066 to U+2069) are text: right-to-left scripts need them, and they end with their paragraph or element.
"""
INVISIBLE = re.compile(rf"[{_UNFIT}\u2066-\u2069]")
"""Characters that may not stand in a message of one line: there an isolate that is not closed reorders the rest."""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that PostgreSQL does not store."""
_OVERRIDES = re.compile(r"[\u202a-\u202e]")
_FROM_THE_RIGHT = frozenset({"R", "AL", "AN"})
_LONGEST_DETAIL = 300
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first characters of a cell that a spreadsheet runs as a formula (OWASP, CSV Injection).

Some spreadsheets run cells with the wide forms of = + - @ as well.
"""
_PATH = re.compile(r"(?<![\w:/.~-])(?:file://|~)?/(?:[^\s/'\"`:;,()<>|]+/)+")


def printable(text: str) -> str:
    """Return a stranger's text in a form that fits into a message: one line, limited length, no invisible character."""
    cleaned = " ".join(INVISIBLE.sub("\ufffd", text).split())
    return cleaned if len(cleaned) <= _LONGEST_DETAIL else f"{cleaned[:_LONGEST_DETAIL]}…"


def isolated(name: str) -> str:
    r"""Return a name that does not reorder the sentence around it, even if it is written from right to left.

    >>> isolated("retrieval")
    'retrieval'
    >>> ascii(isolated("\u05d0\u202eb"))
    "'\\u2068\\u05d0\\ufffdb\\u2069'"
    """
    cleaned = INVISIBLE.sub("\ufffd", name)
    is_reordered = any(unicodedata.bidirectional(each) in _FROM_THE_RIGHT for each in cleaned)
    return f"\u2068{cleaned}\u2069" if is_reordered else cleaned


def without_overrides(text: str) -> str:
    """Replace the characters that change the direction of the text after them."""
    return _OVERRIDES.sub("\ufffd", text)


def without_formula(cell: str) -> str:
    """Return a CSV cell that no spreadsheet runs as a formula.

    A cell that a spreadsheet could run is prefixed with an apostrophe.

    >>> print(without_formula("=1+1"), without_formula("1+1"))
    '=1+1 1+1
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def without_paths(text: str) -> str:
    """Shorten each absolute path in a message to its last part. Callers need not know the folders of a server.

    >>> without_paths("Unable to open /srv/models/gpt/config.json (see https://example.org/a/b)")
    'Unable to open config.json (see https://example.org/a/b)'
    """
    return _PATH.sub("", text)
