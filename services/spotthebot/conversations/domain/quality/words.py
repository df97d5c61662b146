"""When two utterances count as the same: by their words, whatever their case, spacing and punctuation."""

import re
import unicodedata

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the words of a text in NFKC and case-folded, so that `I ' m` and `I'm` have the same ones."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.casefold())


def normalised(text: str) -> str:
    """Return the words with one space between them; a text without words, such as `...`, stays what it is."""
    return " ".join(words(text)) or text.strip()
