"""Rules over texts: exchanges, the debris of a model's vocabulary, and the ends of conversations.

An exchange is an utterance and its answer, ignoring case, spacing and punctuation. Debris is special tokens, space
markers and markers of split words. Only tokens spelled exactly as in a vocabulary are removed, because no person types
them: `<3`, `a < b`, `<html>`, `[sic]`, `snake_case` and `# heading` stay. Text between tokens is never removed. A
conversation has ended after a farewell, or when a speaker repeats itself.
"""

import hashlib
import re
from collections.abc import Sequence
from itertools import pairwise

from spotthebot.kit.text.words import normalised, words

_TRACE = re.compile(r"[<\[_ĠĊ▁#@]")
"""Without a match the text has no debris: most replies need only this check."""

_TOKEN = re.compile(
    r"""
      <\|im_start\|>[ ]?(?:system|user|assistant)?(?=\n|$)                     # ChatML: the token, then the role's line
    | <\|start_header_id\|>\w*<\|end_header_id\|>                             # Llama 3
    | <start_of_turn>[ ]?(?:user|model)?(?=\n|$)                              # Gemma
    | <\|[A-Za-z][\w.-]{0,40}\|>                                              # <|endoftext|>, <|im_end|>, <|eot_id|>
    | (?i:</?s>|<(?:pad|unk|bos|eos|sos|eou|eot|eod|sep|cls|mask|null)>)      # most other vocabularies
    | <(?:/?p[12]|speaker[12]|extra_id_\d{1,3}|(?:start|end)_of_turn)>        # Lost in Conversation, T5, Gemma
    | <</?SYS>> | \[/?INST\]                                                  # Llama 2
    | \[(?:PAD|SEP|CLS|UNK|MASK|BOS|EOS|EOU|EOT)\]                            # BERT
    | __(?:start|end|null|unk|eou|eot|newln|SILENCE|(?:end)?knowledge)__      # ParlAI and DailyDialog
    | _{1,2}POTENTIALLY_UNSAFE__                                              # ParlAI's safety
    """,
    re.VERBOSE,
)
# Matches only from the first blank of a run: otherwise thousands of blanks from a bot would take quadratic time.
_TOKENS = re.compile(rf"(?:(?<!\s)\s+)?(?:(?:{_TOKEN.pattern})\s*)+", re.VERBOSE)
_WORD_PIECE = re.compile(r"(?<=\w) ##(?=\w)")
_SUBWORD = re.compile(r"(?<=\w)@@(?: (?=\w)|$)")
_SPACES = re.compile(r"[ \t]{2,}")
_BARS = frozenset("▂▃▄▅▆▇█")
_MALTESE = frozenset("ġċħż")
_BYTE_RUN = re.compile("[\u00a1-\u0143]{2,}")
_CLOSING = frozenset(".,;:!?)]}'\"…")


def clean(text: str) -> str:
    """Return the text without debris; a text without debris is returned as the same object.

    A text without debris takes about a microsecond. Byte-level artefacts are decoded (`cafÃ©` is `café`) if `Ġ` or `Ċ`
    shows that the text was never detokenised. If other Maltese letters occur, `Ġ` and `Ċ` are letters, and the text
    stays.
    """
    if _TRACE.search(text) is None:
        return text
    cleaned = _TOKENS.sub(_gap, text)
    if "##" in cleaned:
        cleaned = _WORD_PIECE.sub("", cleaned)
    if "@@" in cleaned:
        cleaned = _SUBWORD.sub("", cleaned)
    if "▁" in cleaned and _BARS.isdisjoint(cleaned):
        cleaned = cleaned.replace("▁", " ")
    if ("Ġ" in cleaned or "Ċ" in cleaned) and _MALTESE.isdisjoint(cleaned):
        cleaned = _BYTE_RUN.sub(_decoded, cleaned.replace("Ġ", " ").replace("Ċ", "\n"))
    return text if cleaned == text else _SPACES.sub(" ", cleaned).strip()


def _gap(match: re.Match[str]) -> str:
    """Return the replacement for special tokens: a space between words, nothing before closing punctuation."""
    before, after = match.start() == 0, match.string[match.end() : match.end() + 1]
    if before or not after or after in _CLOSING:
        return ""
    return "\n" if "\n" in match.group() else " "


def _byte_of() -> dict[str, int]:
    """Return the byte for each character of GPT-2's byte-level alphabet."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


_BYTE_OF = _byte_of()


def _decoded(match: re.Match[str]) -> str:
    try:
        return bytes(_BYTE_OF[character] for character in match.group()).decode()
    except (KeyError, UnicodeDecodeError):
        return match.group()


_AFTER_FAREWELL = 2
"""The number of sentences that may follow a farewell within an utterance; none may be a question."""

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
    """Return whether an English utterance is a farewell.

    One of its clauses must be nothing but a farewell (`Well, see you tomorrow then.`). No question and at most two
    sentences may follow. To mention a farewell (`I said goodbye to him`) is not a farewell. Other languages are never
    recognised.
    """
    sentences = _SENTENCE.findall(text)[-_AFTER_FAREWELL - 1 :]
    for sentence in reversed(sentences):
        if any(_LEAVE.fullmatch(" ".join(words(clause))) for clause in _CLAUSE.findall(sentence)):
            return True
        if "?" in sentence:
            return False
    return False


def repeats(turns_of_one_speaker: Sequence[str], times: int) -> bool:
    """Return whether the speaker's last `times` turns are equal, ignoring case, spacing and punctuation."""
    last = turns_of_one_speaker[-times:]
    return len(last) == times and len({normalised(turn) for turn in last}) == 1


HASH_BYTES = 8


def exchange_hashes(turns: Sequence[str]) -> bytes:
    """Return an 8-byte hash for each two adjacent turns.

    If a million exchanges are compared with a million others, two different exchanges have equal hashes with a
    probability of one in 10 million.
    """
    said = [normalised(turn) for turn in turns]
    return b"".join(hashlib.blake2b(f"{a}\x00{b}".encode(), digest_size=HASH_BYTES).digest() for a, b in pairwise(said))
