"""Names that people tell apart by eye: of bots, teams, campaigns, collections and corpora.

A name holds no invisible character and none that changes the direction of text. Names that must differ also have to
look different. `skeleton` compares their looks by Unicode Technical Standard 39, section 4. Its table of characters
that look alike comes from unicode.org; the package `confusable-homoglyphs` contains a copy.
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
"""The name of people in results, as in the paper."""
_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are not shown (Default_Ignorable_Code_Point of the Unicode Character Database)."""
_UNSEEN: Final = "\ufff9-\ufffb\U00013430-\U00013440\U00016fe4\U0001d159"
"""Further characters without a shape: annotations between lines, controls of hieroglyphs, fillers of scripts."""
_JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"
"""Ignorable characters that change how their neighbours are shown: in Persian, in languages of India, in emoji."""
_IGNORED: Final = re.compile(f"[{_IGNORABLE}{_UNSEEN}]")
_BARRED: Final = re.compile(f"(?![{_JOINERS}])[{_IGNORABLE}{_UNSEEN}\x00-\x1f\\x7f-\\x9f\u2028\u2029\ud800-\udfff]")
_MARK: Final = "\u200e"
"""The mark around right-to-left letters in the table of the package."""
_BLANK: Final = "\u2800"
"""The braille pattern without a dot, which Unicode does not count as a space."""


def fault_of_name(name: str) -> str | None:
    r"""Return why people could not read a name, or None if they can.

    >>> fault_of_name("HU\u200b")
    'must not hold U+200B, which is invisible or changes the direction of text'
    >>> fault_of_name("\u2800 \u2800")
    'must have a visible character'
    """
    if found := _BARRED.search(name):
        return f"must not hold U+{ord(found[0]):04X}, which is invisible or changes the direction of text"
    if not skeleton(name):
        return "must have a visible character"
    return None


@lru_cache(maxsize=10_000)  # a file names few bots in many rows
def skeleton(name: str) -> str:
    r"""Return a text that is equal for names that look alike (UTS 39), with any number of blanks between their words.

    Wide and raised letters count as plain letters (NFKD instead of NFD), as the table lists only some of them.

    >>> skeleton("r\u0435trieval") == skeleton("retrieval")  # the second letter is Cyrillic
    True
    """
    shown = _IGNORED.sub("", unicodedata.normalize("NFKD", name)).replace(_BLANK, " ")
    prototypes = _prototypes()
    return " ".join(unicodedata.normalize("NFD", "".join(prototypes.get(each, each) for each in shown)).split())


def fault_of_bot_name(name: str) -> str | None:
    """Return why results can't use a bot's name; None if they can.

    The reason is that people could not read the name, or would take it for the name of people.
    """
    if (fault := fault_of_name(name)) is not None:
        return fault
    if skeleton(name).upper() == HUMAN_NAME:
        return f"{HUMAN_NAME} stands for people in results: choose another name for the bot"
    return None


def find_look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of `others` that differs from a name but looks like it; None if there is none."""
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
    """Return the prototype of each character: characters that look alike have the same prototype.

    The package lists each pair of unicode.org's table in both directions.
    """
    table = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8"))
    alike = {each.strip(_MARK): [other["c"].strip(_MARK) for other in listed] for each, listed in table.items()}
    found = {}
    for each, (first, *more) in alike.items():
        is_leaf = len(each) == 1 and not more
        if is_leaf and (len(first) > 1 or len(alike.get(first, ())) > 1 or first < each):
            found[each] = first
    return found
