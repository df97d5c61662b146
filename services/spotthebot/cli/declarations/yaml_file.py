"""Reads a YAML file as plain values, and remembers the line of each value.

Scalars are those of YAML 1.2's core schema: `no`, `on` and dates are text. Aliases and tags are refused, because a
declaration needs none, and aliases can expand a small file without limit. As in editors, lines end only at line feeds;
YAML also ends lines at other characters, which may occur in a text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from spotthebot.cli.declarations.errors import DeclarationFaulty, Fault

Place = tuple[str | int, ...]
_MAX_BYTES = 1024 * 1024
_NULL, _BOOL, _INT, _FLOAT, _STR = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str"))
_ALIAS = "alias"
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


_NOTICED_LATE = ("while parsing a flow", "while scanning a simple key", "while scanning a quoted scalar")
"""The parser's context in errors that it notices only on a later line than the fault."""
_COLON = "mapping values are not allowed here"
_COLON_EXPLAINED = f"{_COLON}: is there a colon in a text without quotes, or none behind the key on the line before?"


class _Loader(yaml.SafeLoader):
    """Resolves plain scalars as YAML 1.2 does. A number with too many digits is text. Aliases are not followed."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the class above declares it

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias = self.get_event()  # type: ignore[no-untyped-call]
            return yaml.ScalarNode(_ALIAS, alias.anchor, alias.start_mark, alias.end_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


for _tag, _form, _first in (
    (_NULL, r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    (_BOOL, r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    (_INT, r"[-+]?[0-9]{1,18}", list("-+0123456789")),
    (_FLOAT, r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(_tag, re.compile(rf"^(?:{_form})$"), _first)


class YamlFile:
    """The content of a YAML file: `content` consists of dict, list, str, int, float, bool and None."""

    def __init__(self, path: Path, *, page: str) -> None:
        """Read the file; raises DeclarationFaulty, and OSError if it can't be read.

        `page` documents the file's form.
        """
        self.path = path
        self._keys: dict[Place, int] = {}
        self._values: dict[Place, int] = {}
        text = self._text()
        self._line_feeds = [each.start() for each in re.finditer("\n", text)]
        node = self._compose(text)
        if node is None:
            raise self.faulty(Fault(None, "", f"the file is empty: see {page} for an example."))
        self.content = self._value(node, ())

    def line(self, place: Place) -> int:
        """Return the line of a value. For a missing value, return the line of the object in which it is missing."""
        return next(
            self._values[place[:length]] for length in range(len(place), -1, -1) if place[:length] in self._values
        )

    def line_of_key(self, place: Place) -> int:
        """Return the line of a key, which may come before the line of its value.

        Without such a key, return `line(place)`.
        """
        return self._keys.get(place) or self.line(place)

    def holds(self, place: Place) -> bool:
        return place in self._values

    def faulty(self, *faults: Fault) -> DeclarationFaulty:
        return DeclarationFaulty(self.path, faults)

    def _text(self) -> str:
        with self.path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise self.faulty(Fault(None, "", f"the file holds more than {_MAX_BYTES} bytes: is it a declaration?"))
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self.faulty(Fault(line, "", "this is not UTF-8: save the file with that encoding.")) from error

    def _compose(self, text: str) -> yaml.Node | None:
        try:
            node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            raise self.faulty(self._syntax_fault(error)) from error
        except yaml.reader.ReaderError as error:
            reason = f"not YAML: the character U+{error.character:04X} can't stand there: leave it out."
            raise self.faulty(Fault(self._line_at(error.position), "", reason)) from error
        except RecursionError:
            raise self.faulty(Fault(None, "", "the values are nested too deeply: is it a declaration?")) from None
        return node

    def _syntax_fault(self, error: yaml.MarkedYAMLError) -> Fault:
        """Return a syntax error as a fault on the line to correct.

        If the parser noticed it later, the fault names that line.
        """
        context, mark, noticed = error.context or "", error.problem_mark, ""
        began = error.context_mark if context.startswith(_NOTICED_LATE) else None
        if mark is not None and began is not None and began.line != mark.line:
            mark, noticed = began, f" on line {self._line_at(mark.index)}"
        reason = ", ".join(part for part in (context, error.problem) if part)
        line = None if mark is None else self._line_at(mark.index)
        return Fault(line, "", f"not YAML: {_COLON_EXPLAINED if reason == _COLON else f'{reason}{noticed}.'}")

    def _line_at(self, position: int) -> int:
        return bisect_left(self._line_feeds, position) + 1

    def _value(self, node: yaml.Node, place: Place) -> Any:  # noqa: ANN401 - JSON
        line = self._line_at(node.start_mark.index)
        # What is wrong with a list or an object is told where its key stands, which is often a line before it.
        self._values[place] = line if isinstance(node, yaml.ScalarNode) else self._keys.get(place, line)
        if node.tag == _ALIAS:
            raise self._refused(node, place, "aliases (*) are not read: write the value out.")
        if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
            raise self._refused(node, place, f"the tag {node.tag} is not read: write the value without it.")
        if isinstance(node, yaml.MappingNode):
            return {key: self._value(each, (*place, key)) for key, each in self._items(node, place)}
        if isinstance(node, yaml.SequenceNode):
            return [self._value(each, (*place, number)) for number, each in enumerate(node.value)]
        return self._scalar(node, place)

    def _items(self, node: yaml.MappingNode, place: Place) -> Iterator[tuple[str, yaml.Node]]:
        first: dict[str, int] = {}
        for key, value in node.value:
            if key.tag != _STR or not isinstance(key.value, str):
                raise self._refused(key, place, "a key has to be text.")
            line, name = self._line_at(key.start_mark.index), self._whole(key, place)
            if name in first:
                reason = f"the key stands on line {first[name]} already: leave one of them out."
                raise self.faulty(Fault(line, dotted((*place, name)), reason))
            first[name] = self._keys[(*place, name)] = line
            yield name, value

    def _scalar(self, node: yaml.Node, place: Place) -> str | float | bool | None:
        text = self._whole(node, place)
        match node.tag:
            case "tag:yaml.org,2002:str":
                return text
            case "tag:yaml.org,2002:int":
                return int(text)
            case "tag:yaml.org,2002:float":
                return float(text)
            case "tag:yaml.org,2002:bool":
                return text.lower() == "true"
            case "tag:yaml.org,2002:null":
                return None
        raise self._refused(node, place, f"the tag {node.tag} is not read: write the value without it.")

    def _whole(self, node: yaml.Node, place: Place) -> str:
        """Return a scalar's text, in which two escapes of a surrogate pair are one character."""
        try:
            return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            reason = r"an escape (\u...) is half a surrogate pair: write the whole character."
            raise self._refused(node, place, reason) from None

    def _refused(self, node: yaml.Node, place: Place, reason: str) -> DeclarationFaulty:
        return self.faulty(Fault(self._line_at(node.start_mark.index), dotted(place), reason))


def dotted(place: Place) -> str:
    """Return a place as people write it: `opening.take`, `bots[2]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
