"""Which language a conversation is in, by py3langid: the classifier of Lui and Baldwin (2012), 97 languages."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from spotthebot.conversations.domain.quality.words import words

FEWEST_WORDS: Final = 5


def language_of(turns: Sequence[str]) -> tuple[str, float] | None:
    """Return the ISO 639-1 code and its probability; None for fewer than five different words, which say too little."""
    if len({word for turn in turns for word in words(turn)}) < FEWEST_WORDS:
        return None
    code, probability = _identifier().classify("\n".join(turns))
    return str(code), round(min(float(probability), 1.0), 4)


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
