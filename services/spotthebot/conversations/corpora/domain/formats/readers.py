"""The readers of file formats with one dialogue per line, and the choice of a reader.

`own`, the suite's format: `{"turns": [...], "key"?, "split"?, "persona"?: [two texts], "metadata"?: {...}}`. A turn is
a text, or an object with `text` and optionally `speaker`, as in the suite's export of conversations.

ParlAI's conversation JSONL, as `Conversations.save_conversations` and `--save-format conversations` write it:
`{"dialog": [[{"id", "text", ...}, ...], ...], "context"?: [...], ...}`, one episode per line. Messages with the id
`context` describe the scene. They are in `dialog` (older files) or in the field `context`. Their lines `your persona:`
become the personas.

DailyDialog as JSON Lines: `{"fold", "topic", "dialogue": [{"emotion", "act", "text"}, ...]}`; the `fold` of a line is
its split. As text: the turns of a dialogue on one line, each ended by `__eou__`.

The published Spot The Bot dump: MongoDB's JSON Lines, `sampled-dialogues-full-*.json`; the dialogues of people, or all.
The turns have the order in which the file lists them; `exchange_nr` is ignored, because it is not a usable index.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from spotthebot.contracts.conversations.corpora import CorpusFormat
from spotthebot.conversations.corpora.domain.formats.dialogue_rules import (
    alternating,
    dialogue_of,
    list_of,
    object_of,
    text_of,
)
from spotthebot.conversations.corpora.domain.formats.empathetic import EmpatheticLines
from spotthebot.conversations.corpora.domain.formats.lines import LineParser, Reader
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome, Skipped

_CONTEXT = "context"
_PERSONA = "your persona:"
_END_OF_UTTERANCE = "__eou__"


class SpotTheBotLines:
    """Parses conversations of the dump; conversations with a bot are skipped unless requested."""

    def __init__(self, *, bots_too: bool) -> None:
        self._bots_too = bots_too

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one conversation."""
        found = object_of(text)
        turns = list_of(found, "convo")
        if not all(isinstance(turn, dict) for turn in turns):
            raise Fault(reason="a turn of 'convo' is not an object")
        if not self._bots_too and not (found.get("is_human0") is True and found.get("is_human1") is True):
            yield Skipped(number)
            return
        systems = tuple(text_of(found.get(f"system_type{side}"), f"'system_type{side}'") for side in (0, 1))
        for place, turn in enumerate(turns):
            if turn.get("id") != systems[place % 2]:
                raise Fault(reason=f"turn {place + 1} must be by '{systems[place % 2][:60]}': speakers alternate")
        said = [text_of(turn.get("text"), f"turn {place}") for place, turn in enumerate(turns, 1)]
        metadata = {"speakers": list(systems), "domain": found.get("domain_name")}
        yield dialogue_of(number, said, key=_object_id(found), metadata=metadata)

    def end(self) -> Iterable[Outcome]:
        return ()


class DailyDialogLines:
    """Parses both formats, and detects the format line by line."""

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one dialogue."""
        if not text.lstrip().startswith("{"):
            yield dialogue_of(number, _utterances(text))
            return
        found = object_of(text)
        turns = list_of(found, "dialogue")
        if not all(isinstance(turn, dict) for turn in turns):
            raise Fault(reason="a turn of 'dialogue' is not an object")
        said = [text_of(turn.get("text"), f"turn {place}") for place, turn in enumerate(turns, 1)]
        fold = found.get("fold")
        metadata = {name: found[name] for name in ("topic",) if name in found} | {
            f"{name}s": [turn[name] for turn in turns]
            for name in ("emotion", "act")
            if turns and all(name in turn for turn in turns)
        }
        yield dialogue_of(number, said, split=None if fold is None else text_of(fold, "'fold'"), metadata=metadata)

    def end(self) -> Iterable[Outcome]:
        return ()


class ParlAILines:
    """Parses episodes."""

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one episode."""
        found = object_of(text)
        acts = [
            act for parley in list_of(found, "dialog") for act in (parley if isinstance(parley, list) else [parley])
        ]
        scene = found.get("context") or []
        if not isinstance(scene, list) or not all(isinstance(act, dict) for act in [*acts, *scene]):
            raise Fault(reason="an act of 'dialog' or 'context' is not an object")
        spoken = [act for act in acts if act.get("id") != _CONTEXT]
        said = [text_of(act.get("text"), f"turn {place}") for place, act in enumerate(spoken, 1)]
        speakers = [act["id"] for act in spoken if act.get("id") is not None]
        if len(spoken) > 1 and len(speakers) == len(spoken):
            alternating(speakers)
        scene = [*scene, *(act for act in acts if act.get("id") == _CONTEXT)]
        names = list(dict.fromkeys(map(str, speakers)))
        about: dict[str, Any] = {"speakers": names} if names else {}
        persona, rest = _scene([str(act.get("text", "")) for act in scene])
        yield dialogue_of(number, said, persona=persona, metadata=about | ({"context": rest} if rest else {}))

    def end(self) -> Iterable[Outcome]:
        return ()


class OwnLines:
    """Parses the suite's JSON Lines."""

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one dialogue."""
        found = object_of(text)
        turns = list_of(found, "turns")
        said = [text_of(_text(turn), f"turn {place}") for place, turn in enumerate(turns, 1)]
        speakers = [turn["speaker"] for turn in turns if isinstance(turn, dict) and "speaker" in turn]
        if speakers:
            if len(speakers) < len(turns):
                raise Fault(reason="some turns name their speaker and some do not")
            alternating(speakers)
        key, split, metadata = found.get("key"), found.get("split"), found.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            raise Fault(reason="'metadata' is not an object")
        yield dialogue_of(
            number,
            said,
            key=None if key is None else text_of(key, "'key'"),
            split=None if split is None else text_of(split, "'split'"),
            persona=_persona(found),
            metadata=metadata,
        )

    def end(self) -> Iterable[Outcome]:
        return ()


def reader_of(form: CorpusFormat, *, bots_too: bool = False) -> Reader[Outcome]:
    """Return a reader to feed with a file's bytes.

    With `bots_too`, it also yields the dialogues with bots from the Spot The Bot dump.
    """
    parsers: Mapping[CorpusFormat, Callable[[], LineParser[Outcome]]] = {
        CorpusFormat.JSONL: OwnLines,
        CorpusFormat.DAILYDIALOG: DailyDialogLines,
        CorpusFormat.EMPATHETIC: EmpatheticLines,
        CorpusFormat.PARLAI: ParlAILines,
        CorpusFormat.SPOT_THE_BOT: partial(SpotTheBotLines, bots_too=bots_too),
    }
    return Reader(parsers[form]())


def _text(turn: object) -> object:
    return turn.get("text") if isinstance(turn, dict) else turn


def _persona(found: Mapping[str, Any]) -> tuple[str, str] | None:
    persona = found.get("persona")
    if persona is None:
        return None
    match persona:
        case [str() as first, str() as second]:
            return first, second
        case _:
            raise Fault(reason="'persona' is not a list of two texts, one for each speaker")


def _scene(texts: Sequence[str]) -> tuple[tuple[str, str] | None, list[str]]:
    """Split the texts of the scene into the two personas, in the order of the speakers, and all other texts."""
    personas, rest = [], list[str]()
    for text in texts:
        lines = text.split("\n")
        own = [line.removeprefix(_PERSONA).strip() for line in lines if line.startswith(_PERSONA)]
        personas.append("\n".join(own))
        rest += [line for line in lines if not line.startswith(_PERSONA) and line.strip() and line not in rest]
    if not any(personas):
        return None, rest
    first, second = [*personas, ""][:2]
    return (first, second), rest


def _utterances(text: str) -> list[str]:
    if _END_OF_UTTERANCE not in text:
        raise Fault(reason=f"is neither a JSON object nor turns that end with {_END_OF_UTTERANCE}")
    *turns, rest = text.split(_END_OF_UTTERANCE)
    if rest.strip():
        raise Fault(reason=f"the last turn does not end with {_END_OF_UTTERANCE}: the line was cut")
    return [turn.strip() for turn in turns]


def _object_id(found: Mapping[str, Any]) -> str:
    match found.get("_id"):
        case {"$oid": str() as key}:
            return key
        case _:
            raise Fault(reason="has no '_id' with an '$oid'")
