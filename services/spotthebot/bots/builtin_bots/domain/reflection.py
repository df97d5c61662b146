"""Reflects a speaker's words: "I lost my keys" becomes "you lost your keys"."""

from collections.abc import Sequence

_PAIRS = {
    ("i", "am"): "you are",
    ("am", "i"): "are you",
    ("i", "was"): "you were",
    ("was", "i"): "were you",
    ("you", "are"): "I am",
    ("are", "you"): "am I",
    ("you", "were"): "I was",
    ("were", "you"): "was I",
    ("you", "aren't"): "I'm not",
    ("aren't", "you"): "am I not",
    ("you", "weren't"): "I wasn't",
    ("i", "wasn't"): "you weren't",
}
_SINGLE = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "i'm": "you're",
    "i've": "you've",
    "i'll": "you'll",
    "i'd": "you'd",
    "you're": "I'm",
    "you've": "I've",
    "you'll": "I'll",
    "you'd": "I'd",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}
_BEFORE_AN_OBJECT = frozenset(
    """
    about against around at before behind beside between by for from like of on to toward with without
    ask believe call give hate hear help know let love make meet miss need see show tell thank trust want
    """.split()  # noqa: SIM905 - reads better than forty literals
)
"""After these words "you" is an object, so it becomes "me"."""


def reflected(spoken: Sequence[str]) -> str:
    """Return the words with first and second person swapped; other words stay."""
    folded = [word.casefold() for word in spoken]
    turned: list[str] = []
    i = 0
    while i < len(spoken):
        pair = _PAIRS.get((folded[i], folded[i + 1])) if i + 1 < len(spoken) else None
        if pair is not None:
            turned.append(pair)
            i += 2
            continue
        if folded[i] == "you":
            last = i + 1 == len(spoken)
            after = i > 0 and folded[i - 1] in _BEFORE_AN_OBJECT
            turned.append("me" if i > 0 and (last or after) else "I")
        else:
            turned.append(_SINGLE.get(folded[i], spoken[i]))
        i += 1
    return " ".join(turned)
