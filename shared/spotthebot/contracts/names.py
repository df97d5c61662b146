"""Names that people tell apart by looking at them: of bots, teams, campaigns, collections and corpora.

A name holds no character that nobody sees or that turns the text around it. Where two names must differ, they must
differ to the eye: `skeleton` is the one of Unicode Technical Standard 39, section 4. Its table of characters that look
alike is the one of unicode.org, as the package `confusable-homoglyphs` ships it.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Final

from pydantic import AfterValidator

from spotthebot.contracts.wire import Name

HUMAN_NAME: Final = "HU"
"""What results call people, as the paper does."""
_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are not shown (Default_Ignorable_Code_Point of the Unicode Character Database)."""
_JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"
"""Those that change how their neighbours are shown: in Persian, in languages of India, in emoji."""
_IGNORED: Final = re.compile(f"[{_IGNORABLE}]")
_BARRED: Final = re.compile(f"(?![{_JOINERS}])[{_IGNORABLE}\x00-\x1f\\x7f-\\x9f\u2028\u2029\ud800-\udfff]")
_MARK: Final = "\u200e"
"""Stands around letters that are written from right to left in the table of the package."""
_BLANK: Final = "\u2800"
"""The pattern of braille without a dot, which is no space to Unicode."""


def fault_of_name(name: str) -> str | None:
    r"""Return why people could not read a name; None where they can.

    >>> fault_of_name("HU\u200b")
    'must not hold U+200B, which is invisible or changes the direction of text'
    >>> fault_of_name("\u2800 \u2800")
    'must have a visible character'
    """
    if found := _BARRED.search(name):
        return f"must not hold U+{ord(found[0]):04X}, which is invisible or changes the direction of text"
    if not skeleton(name).replace(_BLANK, "").strip():
        return "must have a visible character"
    return None


@lru_cache(maxsize=10_000)  # a file names few bots in many rows
def skeleton(name: str) -> str:
    r"""Return the same text for names that look alike (UTS 39), however many blanks stand between their words.

    Wide and raised letters count as plain ones (NFKD in place of NFD): the table lists only some of them.

    >>> skeleton("r\u0435trieval") == skeleton("retrieval")  # the second letter is Cyrillic
    True
    """
    shown = _IGNORED.sub("", unicodedata.normalize("NFKD", name))
    prototypes = _prototypes()
    return " ".join(unicodedata.normalize("NFD", "".join(prototypes.get(each, each) for each in shown)).split())


def fault_of_bot_name(name: str) -> str | None:
    """Return why results could not call a bot so: people could not read it, or would take it for the name of people."""
    if (fault := fault_of_name(name)) is not None:
        return fault
    if skeleton(name).upper() == HUMAN_NAME:
        return f"{HUMAN_NAME} stands for people in results: choose another name for the bot"
    return None


def find_look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of other names that looks like a name and is another; None: there is none."""
    seen = skeleton(name)
    return next((each for each in others if each != name and skeleton(each) == seen), None)


def _refusing(fault_of: Callable[[str], str | None]) -> Callable[[str], str]:
    def check(name: str) -> str:
        if (fault := fault_of(name)) is not None:
            raise ValueError(fault)
        return name

    return check


ReadableName = Annotated[Name, AfterValidator(_refusing(fault_of_name))]
BotName = Annotated[Name, AfterValidator(_refusing(fault_of_bot_name))]


@cache
def _prototypes() -> dict[str, str]:
    """Return what stands for each character: the package lists each pair of unicode.org's table in both directions."""
    table = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8"))
    alike = {each.strip(_MARK): [other["c"].strip(_MARK) for other in listed] for each, listed in table.items()}
    found = {}
    for each, (first, *more) in alike.items():
        is_leaf = len(each) == 1 and not more
        if is_leaf and (len(first) > 1 or len(alike.get(first, ())) > 1 or first < each):
            found[each] = first
    return found
