"""Removes what a model's vocabulary left in its reply: special tokens, markers of spaces, markers of split words.

Only what no person types is removed: a token has to be spelled exactly as a vocabulary spells it, so `<3`, `a < b`,
`<html>`, `[sic]`, `snake_case` and `# heading` stay. Text between tokens is never removed.
"""

import re

_TRACE = re.compile(r"[<\[_ĠĊ▁#@]")
"""Without one of these there is no debris: one look, and most replies are done."""

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
# Blanks are tried from the first of a run only: a bot that sends thousands of them would hold up everybody otherwise.
_TOKENS = re.compile(rf"(?:(?<!\s)\s+)?(?:(?:{_TOKEN.pattern})\s*)+", re.VERBOSE)
_WORD_PIECE = re.compile(r"(?<=\w) ##(?=\w)")
_SUBWORD = re.compile(r"(?<=\w)@@(?: (?=\w)|$)")
_SPACES = re.compile(r"[ \t]{2,}")
_BARS = frozenset("▂▃▄▅▆▇█")
_MALTESE = frozenset("ġċħż")
_BYTE_RUN = re.compile("[\u00a1-\u0143]{2,}")
_CLOSING = frozenset(".,;:!?)]}'\"…")


def clean(text: str) -> str:
    """Return the text without debris, or the very same text where there is none.

    Takes about a microsecond then. Byte-level artefacts are decoded (`cafÃ©` is `café`) where `Ġ` or `Ċ` shows that
    the text was never detokenised, unless other Maltese letters show that these are letters.
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
    """Leave what parted the words around the tokens, and nothing before what closes a sentence."""
    before, after = match.start() == 0, match.string[match.end() : match.end() + 1]
    if before or not after or after in _CLOSING:
        return ""
    return "\n" if "\n" in match.group() else " "


def _byte_of() -> dict[str, int]:
    """Return which byte each character of GPT-2's byte-level alphabet stands for."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


_BYTE_OF = _byte_of()


def _decoded(match: re.Match[str]) -> str:
    try:
        return bytes(_BYTE_OF[character] for character in match.group()).decode()
    except (KeyError, UnicodeDecodeError):
        return match.group()
