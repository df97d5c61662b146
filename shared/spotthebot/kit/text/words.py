"""When two utterances, or two conversations, count as the same: by their words, whatever case, spacing and punctuation.

Conversations of one text are one stimulus. Annotators who see it again, in this conversation or in another one, say
again what they say of this text: more copies tell nothing of how other conversations would be. So they count as one
cluster to every interval and test, of any speakers. The text of a conversation is all that annotators are shown of it:
what was cut off cannot part two of them, and two that only begin alike stay two, since they go on as two.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the words of a text in NFKC and case-folded, so that `I ' m` and `I'm` have the same ones."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.casefold())


def normalised(text: str) -> str:
    """Return the words with one space between them; a text without words, such as `...`, stays what it is."""
    return " ".join(words(text)) or text.strip()


def text_hash(utterances: Sequence[str]) -> bytes:
    """Return 16 bytes that two conversations share if their utterances have the same words in the same order."""
    return hashlib.blake2b("\x00".join(map(normalised, utterances)).encode(), digest_size=16).digest()


def known_text_hash(utterances: Sequence[str]) -> bytes | None:
    """Return the hash; None where all utterances are blank: two conversations whose words are missing are not alike."""
    return text_hash(utterances) if any(map(str.strip, utterances)) else None
