"""ParlAI's conversation JSONL, as `Conversations.save_conversations` and `--save-format conversations` write it.

`{"dialog": [[{"id", "text", ...}, ...], ...], "context"?: [...], ...}`, one episode per line. Messages with the id
`context` describe the scene. They are in `dialog` (older files) or in the field `context`. Their lines `your persona:`
become the personas.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from spotthebot.conversations.corpora.domain.formats.dialogue_rules import (
    alternating,
    dialogue_of,
    list_of,
    object_of,
    text_of,
)
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome

_CONTEXT = "context"
_PERSONA = "your persona:"


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
