"""The language of a conversation, by py3langid: the classifier of Lui and Baldwin (2012), 97 languages."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from spotthebot.kit.text.words import words

FEWEST_WORDS: Final = 5
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_CHARACTERS_PER_WORD = 2


def language_of(turns: Sequence[str]) -> tuple[str, float] | None:
    """Return the ISO 639-1 code of the language and its probability; None for fewer than five different words.

    In scripts without spaces, two different characters count as a word.
    """
    if _different_words(turns) < FEWEST_WORDS:
        return None
    code, probability = _identifier().classify("\n".join(turns))
    return str(code), round(min(float(probability), 1.0), 4)


def _different_words(turns: Sequence[str]) -> int:
    characters, spaced = set[str](), set[str]()
    for turn in turns:
        plain = turn if turn.isascii() else unicodedata.normalize("NFKC", turn)
        characters.update(_WITHOUT_SPACES.findall(plain))
        spaced.update(words(_WITHOUT_SPACES.sub(" ", plain)))
    return len(spaced) + len(characters) // _CHARACTERS_PER_WORD


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
