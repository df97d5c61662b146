"""The names of annotators in a report: codes, unless the caller asks for names."""

import hashlib
from collections.abc import Collection, Mapping
from itertools import count
from typing import Final

from spotthebot.contracts.analytics.results import Analysis
from spotthebot.kit.crypto.pseudonyms import is_pseudonym

_MIN_LETTERS: Final = 6
"""The shortest code from a pseudonym, including its `p-`."""


def annotator_codes(names: Collection[str], programs: Collection[str] = ()) -> dict[str, str]:
    """Return a code for each annotator; those of the names that are `programs` stay.

    A pseudonym of the service `annotation` is shortened to a unique beginning. This is still a keyed hash, the same in
    all reports of a campaign, and can be found in its exports. Other names, of published studies, become A1, A2 and so
    on, in the order of their SHA-256.

    >>> annotator_codes(["p-0123456789abcdefghijklmnop", "simulated-4", "Ann"], ["simulated-4"])
    {'p-0123456789abcdefghijklmnop': 'p-0123', 'simulated-4': 'simulated-4', 'Ann': 'A1'}
    """
    pseudonyms = [name for name in names if is_pseudonym(name)]
    letters = next(at for at in count(_MIN_LETTERS) if len({name[:at] for name in pseudonyms}) == len(set(pseudonyms)))
    codes = {name: name[:letters] for name in pseudonyms} | {name: name for name in programs}
    others = sorted(set(names) - codes.keys(), key=lambda name: hashlib.sha256(name.encode()).digest())
    return codes | {name: f"A{number}" for number, name in enumerate(others, start=1)}


def by_name(name: str) -> tuple[int, str]:
    """Return the sort key of an annotator's code: A2 before A10. The order tells nothing about other names."""
    return len(name), name


def with_annotators(analysis: Analysis, names: Mapping[str, str]) -> Analysis:
    """Return an analysis with annotators renamed by `names` and ordered by the new names; others keep their names."""
    found = analysis.annotators
    renamed = [
        each.model_copy(update={"annotator": names.get(each.annotator, each.annotator)}) for each in found.annotators
    ]
    renamed.sort(key=lambda each: by_name(each.annotator))
    return analysis.model_copy(update={"annotators": found.model_copy(update={"annotators": tuple(renamed)})})
