"""Words, sentences and marks of a text, for bots that read their partner's turns.

Tokenised text of a corpus (`i 'm`, `do n't`, `well .`) is read like typed text.
"""

import re
from collections.abc import Sequence

from spotthebot.bots.questions.domain.dialogue import Dialogue

_WORD = re.compile(r"\w+(?:'\w+)*")
_WORD_OR_MARK = re.compile(r"\w+(?:'\w+)*|[.,!?;:]")
_SPACE_BEFORE_CLITIC = re.compile(r"\s(?=(?:n't|'(?:m|s|re|ve|ll|d))\b)", re.IGNORECASE)
_SPACE_BEFORE_MARK = re.compile(r"\s(?=[.,!?;:])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

STOPWORDS = frozenset(
    """
    a about after again all also always am an and any are aren't as at away be because been before being
    but by can can't cannot come could couldn't did didn't do does doesn't doing don't done down each else
    even ever every few for from get gets getting give go goes going gone good got had has hasn't have
    haven't having he he'd he'll he's her here here's hers him his how how's i i'd i'll i'm i've if in into
    is isn't it it's its just know let let's like ll lot made make many may maybe me mean might mine more
    most much must my myself need never new no nor not nothing now of off oh ok okay on once one only or
    other our out over own please put quite rather re really right said same say says see seem she she'd
    she'll she's should shouldn't since so some something soon sorry still such sure take tell than thank
    thanks that that'd that'll that's the their them then there there's these they they'd they'll they're
    they've thing things think this those though through time to too try two under until up us use used
    ve very want wants was wasn't way we we'd we'll we're we've well went were weren't what what's when
    where where's which while who who's why will with without won't would wouldn't yeah yes yet you you'd
    you'll you're you've your yours yourself
    """.split()  # noqa: SIM905 - as literals the list would be 250 lines long
)
"""Words that say little about the topic of a sentence."""


def plain(text: str) -> str:
    """Straighten apostrophes, and join the pieces into which a tokeniser split words; case and words stay."""
    straight = text.replace("\u2019", "'").strip()
    return _SPACE_BEFORE_MARK.sub("", _SPACE_BEFORE_CLITIC.sub("", straight))


def words(text: str) -> list[str]:
    """Return the words of a text, case-folded and in order, without marks."""
    return _WORD.findall(plain(text).casefold())


def words_and_marks(text: str) -> list[str]:
    """Return the words of a text with their case and the marks between them, in order."""
    return _WORD_OR_MARK.findall(plain(text))


def sentences(text: str) -> list[str]:
    """Cut a text after each full stop, question or exclamation mark; blank pieces are left out."""
    return [sentence for sentence in _SENTENCE_END.split(plain(text)) if sentence.strip()]


def said_key(text: str) -> str:
    """Return a key that is equal for turns that differ only in case and the mark at their end."""
    return text.strip().casefold().rstrip(".!? ")


def utterances(dialogues: Sequence[Dialogue]) -> list[str]:
    """Return all turns of the dialogues that are not blank, in order."""
    return [turn for dialogue in dialogues for turn in dialogue if turn.strip()]


def opening_turns(dialogues: Sequence[Dialogue]) -> list[str]:
    """Return the first non-blank turn of every dialogue that has one."""
    return [dialogue[0] for dialogue in dialogues if dialogue and dialogue[0].strip()]
