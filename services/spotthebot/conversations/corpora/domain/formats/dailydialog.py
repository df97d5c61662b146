"""DailyDialog, in both published formats.

As JSON Lines: `{"fold", "topic", "dialogue": [{"emotion", "act", "text"}, ...]}`; the `fold` of a line is its split.
As text: the turns of a dialogue on one line, each ended by `__eou__`.
"""

from collections.abc import Iterable

from spotthebot.conversations.corpora.domain.formats.dialogue_rules import dialogue_of, list_of, object_of, text_of
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome

_END_OF_UTTERANCE = "__eou__"


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


def _utterances(text: str) -> list[str]:
    if _END_OF_UTTERANCE not in text:
        raise Fault(reason=f"is neither a JSON object nor turns that end with {_END_OF_UTTERANCE}")
    *turns, rest = text.split(_END_OF_UTTERANCE)
    if rest.strip():
        raise Fault(reason=f"the last turn does not end with {_END_OF_UTTERANCE}: the line was cut")
    return [turn.strip() for turn in turns]
