"""The works that a report cites, for BibTeX, and the suite itself."""

import re
from collections.abc import Iterable
from typing import Final

from spotthebot.local.report.latex import escape
from spotthebot.local.report.references import Reference

_DOI: Final = "https://doi.org/"


def bibliography(works: Iterable[Reference], version: str) -> str:
    r"""Return a file for BibTeX: the suite in this version, then the works, each under its key.

    >>> work = Reference("firth1993", "D. Firth: Bias & Reduction. Biometrika 80(1), 1993, 27-38.", _DOI + "10.1/b")
    >>> print(bibliography([work], "0.2").partition("\n\n")[2])
    @misc{firth1993,
      author = {D. Firth},
      title = {{Bias \& Reduction}},
      howpublished = {Biometrika 80(1), 27-38},
      year = {1993},
      doi = {10.1/b},
    }
    <BLANKLINE>
    """
    suite = {
        "author": "{The maintainers of Spot The Bot}",
        "title": "{Spot The Bot: A Suite of Services that Evaluates Chatbots}",
        "version": version,
    }
    return "\n".join([_entry("software", "spotthebot", suite), *(_work(each) for each in works)])


def _work(work: Reference) -> str:
    authors, _, rest = work.text.partition(": ")
    title, _, published = rest.partition(". ")
    year = work.key[-4:]
    fields = {
        "author": escape(authors.replace(", ", " and ")),
        "title": f"{{{escape(title)}}}",
        "howpublished": escape(re.sub(f",? {year}", "", published).removesuffix(".")),
        "year": year,
        "doi" if work.url.startswith(_DOI) else "url": work.url.removeprefix(_DOI),
    }
    return _entry("misc", work.key, fields)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = (f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"
