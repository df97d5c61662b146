"""When a conversation has ended by what was said: leave was taken, or a speaker says the same over and over."""

import re
from collections.abc import Sequence

from spotthebot.kit.words import normalised, words

_AFTER_FAREWELL = 2
"""Sentences that may follow a farewell within an utterance, as long as none of them asks something."""

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_CLAUSE = re.compile(r"[^,;:—()]+")
_FILLER = (
    r"(?:oh|ok|okay|well|alright|all right|right|yes|yeah|sure|great|cool|and|but|so|then|anyway|thanks|thank you"
    r"|thanks again|thank you very much|you too|same to you)"
)
_LATER = (
    r"(?:later|soon|tomorrow(?: night| morning| evening)?|tonight|around|again|then|there"
    r"|next (?:time|week|month|year)|(?:on )?\w+day|(?:at|in|when|on) .{1,40})"
)
_TALKING = r"(?:talking|chatting|speaking|meeting)(?: (?:to|with))? (?:you|ya)(?: .{1,20})?"
_PLEASANT = r"(?:it (?:was|s been|has been) )?(?:(?:so|very|really|an?) )*(?:nice|great|good|lovely|pleasure|fun)"
_MUST = r"(?:have to|need to|got to|gotta|must|should|better|d better|had better|must be)"
_DAY = r"(?: (?:day|night|evening|weekend|week|afternoon|morning|one|trip|flight)| rest of (?:your|the) \w+)"
_LEAVING = "|".join(
    (
        r"(?:good ?)?(?:bye ?)?bye(?: bye)?",
        r"good ?night|nighty night|sleep (?:well|tight)|sweet dreams",
        r"farewell|cheerio|ciao|adios|au revoir|cya|ttyl|g2g|gtg|ta ta|so long|laters?|peace out",
        rf"(?:i ll |i will |we ll |hope to |looking forward to )?see(?:ing)? (?:you|ya|u)(?: {_LATER})*",
        rf"(?:(?:i|we) (?:ll|will) |let s )?(?:talk|speak|chat|catch)(?: to| with)?(?: you| ya)?(?: up)?(?: {_LATER})+",
        r"(?:please )?take (?:good )?care(?: of yourself| of yourselves)?",
        rf"(?:i )?(?:hope )?(?:you )?(?:have|enjoy) (?:an?|the|your)(?: \w+)?{_DAY}",
        rf"{_PLEASANT} {_TALKING}",
        rf"(?:(?:i|we) )?(?:ve )?{_MUST} (?:go|run|leave|going|get going|be going|be off|head out)(?: now| soon)?",
        r"(?:un)?till? (?:next time|then|tomorrow|we meet again)",
    )
)
_LEAVE = re.compile(
    rf"(?:{_FILLER} )*(?:{_LEAVING})(?: and (?:{_LEAVING}))*"
    r"(?: (?:then|now|for now|too|as well|again|all|everyone|everybody|guys|my friend|friend|dear|sir|madam|man"
    r"|(?:mr|mrs|ms|miss|dr) \w+|and (?:good luck|thanks|thank you)))*"
)


def is_farewell(text: str) -> bool:
    """Say whether an English utterance takes leave.

    It does where one of its clauses is nothing but a farewell (`Well, see you tomorrow then.`) and neither a question
    nor more than two sentences follow; to speak of a farewell (`I said goodbye to him`) takes no leave. Other languages
    are never taken for a farewell.
    """
    sentences = _SENTENCE.findall(text)[-_AFTER_FAREWELL - 1 :]
    for sentence in reversed(sentences):
        if any(_LEAVE.fullmatch(" ".join(words(clause))) for clause in _CLAUSE.findall(sentence)):
            return True
        if "?" in sentence:
            return False
    return False


def repeats(turns_of_one_speaker: Sequence[str], times: int) -> bool:
    """Say whether the speaker's last `times` turns are the same but for case, spacing and punctuation."""
    last = turns_of_one_speaker[-times:]
    return len(last) == times and len({normalised(turn) for turn in last}) == 1
