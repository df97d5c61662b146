"""All flags from the text of one conversation, computed together in about three milliseconds for ten turns."""

from collections.abc import Sequence

from spotthebot.conversations.quality.domain.duplicates import signature
from spotthebot.conversations.quality.domain.flags import TextFlags
from spotthebot.conversations.quality.domain.language import language_of
from spotthebot.conversations.quality.domain.personal_data import personal_data
from spotthebot.conversations.quality.domain.profanity import profane_turns
from spotthebot.conversations.texts.domain import exchange_hashes
from spotthebot.kit.text.words import text_hash, words


def flag_texts(texts: Sequence[Sequence[str]]) -> list[TextFlags]:
    """Return the flags of conversations, each given as its turns."""
    return [
        TextFlags(
            turns=len(turns),
            words=sum(len(words(turn)) for turn in turns),
            language=language_of(turns),
            profanity=profane_turns(turns),
            personal_data=personal_data(turns),
            text_hash=text_hash(turns),
            signature=signature(turns),
            exchange_hashes=exchange_hashes(turns),
        )
        for turns in texts
    ]
