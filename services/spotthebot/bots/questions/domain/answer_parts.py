"""Splits a bot's answer into the reply and other parts.

Other parts are reasoning, the role before a reply (`Assistant:`), and turns that a model makes up for its partner.
Markers are those of public models and of their chat templates, as servers leave them in the text:

- reasoning: `<think>` of DeepSeek-R1 and Qwen, whose opening tag often stands in the prompt; `[THINK]` of Mistral; the
  channels of gpt-oss, also without their special tokens; tags, headings and fences that people ask models for;
- roles: words that transcripts and templates put before a turn, where they begin a line;
- ends: tokens after which a template lets the partner speak.
"""

import re
from dataclasses import dataclass

from spotthebot.contracts.bots.replies import ReplyNote

LONGEST_ANSWER = 100_000
"""The number of characters of an answer that are parsed: five times the longest reply, to leave room for reasoning."""

_TRACE = re.compile(
    r"[<\uff1c◁\[&:\uff1a`]|analysis|thought process|\n[ \t]*(?:user|human|assistant)\b|\A\W*assistant\b", re.IGNORECASE
)
"""Without a match the answer is the reply: most answers need only this check."""

_NAME = (
    r"(?:seed:|antml:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|analysis|scratchpad|plan(?:ning)?|"
    r"(?:thought|thinking|reasoning)[_-]?process|rationale|deliberation|chain[_-]of[_-]thought|cot|"
    r"(?:inner|internal)[_-]?(?:monologue|thoughts?)|ant_?thinking)"
)
_MARK = re.compile(
    rf"""
      (?P<nothing> [<\uff1c]\s?{_NAME}\s?/\s?[>\uff1e] )
    | (?P<close> [<\uff1c◁]\s?/\s?{_NAME}\s?[>\uff1e▷] | &lt;/{_NAME}&gt; | (?-i:\[/THINK\])
        | <\|(?:/|end_(?:of_)?){_NAME}\|> | <unused95> | <channel\|> )
    | (?P<open> [<\uff1c◁]\s?{_NAME}(?:\s[^<>▷]{{0,100}})?[>\uff1e▷] | &lt;{_NAME}&gt; | (?-i:\[THINK\])
        | <\|(?:begin_of_|start_(?:of_)?)?{_NAME}\|> | <unused94> | <\|channel>thought )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(rf"^```[ \t]*{_NAME}[ \t]*\n.*?(?P<end>^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_CHANNEL = "<|channel|>"
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start)\|>")
_BARE_CHANNEL = re.compile(r"analysis(?=[A-Z]).*?assistant(?:commentary.*?assistant)?final", re.DOTALL)
_BARE_CHANNEL_CUT = re.compile(r"analysis(?=[A-Z])")
_HEADED = re.compile(
    r"""
      here(?:[ ]i|['\u2019])s[ ]my[ ]thought[ ]process:.*?here(?:[ ]i|['\u2019])s[ ]my[ ](?:response|answer):\s*
    | [*#_ ]{0,5}(?:thoughts?|thinking|reasoning|analysis|chain[ ]of[ ]thought|thought[ ]process|internal[ ]monologue)
      [*_ ]{0,3}:.*?^[*#_ ]{0,5}(?:final[ ])?(?:answer|response|reply|output)[*_ ]{0,3}:[*_]{0,3}\s*
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_HEADED_CUT = re.compile(
    r"here(?: i|['\u2019])s my thought process:"
    r"|[*#_ ]{0,5}(?:thought|thinking|reasoning|chain of thought|thought process|internal monologue)[*_ ]{0,3}:",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"\A\s*<\|?(?P<name>(?:begin_of_|start_)?(?:final_?)?(?:answer|response|reply|output|solution|final))\|?>"
    r"|<(?:/|\|end_(?:of_)?)(?:final_?)?(?:answer|response|reply|output|solution|final)\|?>\s*\Z",
    re.IGNORECASE,
)

_ROLE = (
    r"(?:user|human|(?:ai\ )?assistant|ai|bot|chat\ ?bot|chatgpt|(?:speaker|person|participant)\ ?[12ab]|"
    r"benutzer|nutzer|assistent|utilisateur|usuario|asistente|用户|助手)"
)
_LABEL = rf"[*_\#>\[(]{{0,4}}[ ]?{_ROLE}(?:[ ]\([^)\n]{{0,30}}\))?[*_\])]{{0,4}}[ ]?[:\uff1a][*_]{{0,3}}"
_TURN_BEGINS = (
    r"<\|im_start\|>[ ]?(?:user|assistant)? | <\|start_header_id\|>\w*<\|end_header_id\|> | <start_of_turn>[ ]?\w*"
    r"| <\|(?:user|assistant|human|bot)\|> | <\|start\|>(?:user|assistant)"
    r"| \#\#\#[ ]?(?:instruction|input|response)[ ]?:"
)
_ROLE_FIRST = re.compile(
    rf"""
      (?:{_TURN_BEGINS} | {_LABEL} | [*_\#]{{0,3}}[ ]?assistant[*_]{{0,3}}[ ]*(?=\n)
    | (?-i:You|Model|GPT(?:-[0-9][.\w]{{0,5}})?|[AB]):(?=\s))\s*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ROLE_LATER = re.compile(
    rf"""
      \n[ \t]*{_LABEL} | \n[ \t]*[*_\#]{{0,3}}[ ]?(?:user|human|assistant)[*_]{{0,3}}[ ]*(?=\n)
    | \n[ \t]*(?-i:You|Partner|Stranger|[ABQ]):(?=\s)
    | (?<=[.!?…"”])[ ]+(?-i:User|Human|Assistant):[ ] | (?:{_TURN_BEGINS}) | \[INST\]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEGINS = re.compile(r"(?:\s*(?:<s>|<bos>|<\|begin_of_text\|>|<\uff5cbegin\u2581of\u2581sentence\uff5c>))+")
_ENDS = re.compile(
    r"</s>|<eos>|<end_of_turn>|\[/INST\]|<\|(?:im_end|eot_id|eom_id|eot|eos|end|return|endoftext|end_of_(?:text|turn))\|>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>",
)
_PARTNER = re.compile(r"user|human", re.IGNORECASE)
_OWN_LATER = re.compile(r"\n[ \t]*[*_#]{0,3}[ ]?assistant[*_]{0,3}[ ]?:[*_]{0,3}", re.IGNORECASE)


@dataclass(frozen=True)
class AnswerParts:
    """An answer's reply, its other parts, and the marker of unclosed reasoning."""

    reply: str
    notes: tuple[ReplyNote, ...] = ()
    open_reasoning: str | None = None


def take_apart(text: str) -> AnswerParts:
    r"""Return the parts of an answer.

    Reasoning and made-up turns of the partner are taken out; all other text is unchanged. `conversations` removes the
    tokens that only end a reply, and keeps the text that it changed.

    >>> take_apart("<think>A greeting.</think>Assistant: Hi!\nUser: How are you?").reply
    'Hi!'
    """
    if _TRACE.search(text) is None:
        return AnswerParts(text)
    reply, open_reasoning = _without_reasoning(text)
    notes = [ReplyNote.REASONING] if open_reasoning or reply != text else []
    if notes:
        reply = _WRAPPED.sub("", reply)
    reply = reply.strip()
    reply = reply[begins.end() :].strip() if (begins := _BEGINS.match(reply)) else reply
    if first := _ROLE_FIRST.match(reply):
        is_partners = _PARTNER.search(first[0]) is not None
        own = _OWN_LATER.search(reply, first.end()) if is_partners else None
        reply = reply[(own or first).end() :]
        notes.append(ReplyNote.PARTNERS_TURN if own else ReplyNote.ROLE)
    if later := _ROLE_LATER.search(reply):
        reply = reply[: later.start()]
        notes.append(ReplyNote.PARTNERS_TURN)
    until = _end_of_turn(reply)
    if _ENDS.sub("", reply[until:]).strip():
        notes.append(ReplyNote.PARTNERS_TURN)
    return AnswerParts(reply[:until].strip() if notes else text, tuple(dict.fromkeys(notes)), open_reasoning)


def _end_of_turn(reply: str) -> int:
    """Return where a template's token ends a reply; `</s>` that closes struck text (`<s>tea</s>`) ends none."""
    struck = reply.find("<s>") + 1 or len(reply)
    ends = (end.start() for end in _ENDS.finditer(reply) if end[0] != "</s>" or end.start() < struck)
    return next(ends, len(reply))


def _without_reasoning(text: str) -> tuple[str, str | None]:
    """Return a text without its reasoning, and the marker of unclosed reasoning."""
    if _CHANNEL in text:
        messages = (each.partition("<|message|>") for each in text.split(_CHANNEL)[1:])
        final = [
            _CHANNEL_ENDS.split(said, maxsplit=1)[0] for head, _, said in messages if head.lstrip().startswith("final")
        ]
        return "\n".join(final), None if final else _CHANNEL
    start = text.lstrip()
    for whole, cut in ((_BARE_CHANNEL, _BARE_CHANNEL_CUT), (_HEADED, _HEADED_CUT)):
        if found := whole.match(start):
            return start[found.end() :], None
        if found := cut.match(start):
            return "", found[0]
    if "```" in text:
        if any(not each["end"] for each in _FENCE.finditer(text)):
            return "", "```"
        text = _FENCE.sub("", text)
    return _outside_of_tags(text)


def _outside_of_tags(text: str) -> tuple[str, str | None]:
    kept: list[str] = []
    opened: list[str] = []
    begin = 0
    for mark in _MARK.finditer(text):
        if not opened:
            kept.append(text[begin : mark.start()])
        if mark["open"]:
            opened.append(mark[0])
        elif mark["close"]:
            if not opened:
                kept.clear()  # the opening tag was in the prompt
            opened = opened[:-1]
        begin = mark.end()
    if opened:
        return "", opened[0]
    kept.append(text[begin:])
    return "".join(kept), None
