"""Text that others wrote, made fit to be kept and shown."""

import re
import unicodedata

_UNFIT = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff"
UNFIT = re.compile(f"[{_UNFIT}]")
"""Characters that are no text, or that override or embed a direction, which Unicode advises against (UAX #9, 2.7).

Isolates (U+2066 to U+2069) are text: right-to-left scripts need them, and they end with their paragraph or element.
"""
INVISIBLE = re.compile(rf"[{_UNFIT}\u2066-\u2069]")
"""Characters that have no place in a message of one line, where an isolate that is not closed reorders the rest."""
_OVERRIDES = re.compile(r"[\u202a-\u202e]")
_FROM_THE_RIGHT = frozenset({"R", "AL", "AN"})
_LONGEST_DETAIL = 300
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a cell begins that a spreadsheet runs (OWASP, CSV Injection): some take the wide forms of = + - @ as well."""
_PATH = re.compile(r"(?<![\w:/.~-])(?:file://|~)?/(?:[^\s/'\"`:;,()<>|]+/)+")


def printable(text: str) -> str:
    """Make what a stranger's server said fit for a message: one line, nothing invisible, not long."""
    cleaned = " ".join(INVISIBLE.sub("\ufffd", text).split())
    return cleaned if len(cleaned) <= _LONGEST_DETAIL else f"{cleaned[:_LONGEST_DETAIL]}…"


def isolated(name: str) -> str:
    r"""Return a name for the middle of a sentence: what is written from the right keeps its order to itself.

    >>> isolated("retrieval")
    'retrieval'
    >>> ascii(isolated("\u05d0\u202eb"))
    "'\\u2068\\u05d0\\ufffdb\\u2069'"
    """
    cleaned = INVISIBLE.sub("\ufffd", name)
    is_reordered = any(unicodedata.bidirectional(each) in _FROM_THE_RIGHT for each in cleaned)
    return f"\u2068{cleaned}\u2069" if is_reordered else cleaned


def without_overrides(text: str) -> str:
    """Replace the characters that turn the text around them: those that end at the end of a block."""
    return _OVERRIDES.sub("\ufffd", text)


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
