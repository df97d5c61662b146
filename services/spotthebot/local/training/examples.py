"""Training examples from dialogues: windows of turns, or pairs of a context and its next turn."""

from collections.abc import Callable, Sequence

from spotthebot.inference.models.dialogue.turn_tokens import TurnTokens

Dialogues = Sequence[Sequence[str]]


class Pairs:
    """Pairs of a turn and its context, which is the turns before it; the context of a first turn is empty."""

    def __init__(self, tokens: TurnTokens, dialogues: Dialogues, context_length: int, reply_length: int) -> None:
        self._tokens = tokens
        self._lengths = context_length, reply_length
        self._ids = [[tokens.ids(turn) for turn in turns] for turns in dialogues]
        self._texts = [[turn.strip() for turn in turns] for turns in dialogues]
        self._indices = [(dialogue, turn) for dialogue, turns in enumerate(self._ids) for turn in range(len(turns))]

    def __len__(self) -> int:
        return len(self._indices)

    def context(self, index: int) -> list[int]:
        dialogue, turn = self._indices[index]
        return self._tokens.context(reversed(self._ids[dialogue][:turn]), self._lengths[0])

    def reply(self, index: int) -> list[int]:
        dialogue, turn = self._indices[index]
        return self._ids[dialogue][turn][: self._lengths[1]]

    def text(self, index: int) -> str:
        dialogue, turn = self._indices[index]
        return self._texts[dialogue][turn]


class Windows:
    """Dialogues as rows of tokens: the begin token, then every turn followed by the end token.

    If a dialogue is too long for one row, it continues in the next row. This row starts with a whole turn and has no
    begin token. If a turn is too long for a row, its end is cut off.
    """

    def __init__(
        self, encode: Callable[[str], list[int]], dialogues: Dialogues, length: int, begin: int, end: int
    ) -> None:
        self._rows: list[list[int]] = []
        for turns in dialogues:
            row = [begin]
            for turn in turns:
                ids = [*encode(turn)[: length - 2], end]
                if len(row) + len(ids) > length:
                    self._rows.append(row)
                    row = []
                row += ids
            self._rows.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> list[int]:
        return self._rows[index]


class PackedWindows:
    """Dialogues one after the other in rows of one length, so that a model learns every position of a long context.

    A row begins with the end token and a dialogue; every turn is followed by the end token. If a dialogue does not fit
    into the rest of a row, its beginning fills this row, and the whole dialogue begins the next row. A dialogue longer
    than a row continues in the next row.
    """

    def __init__(self, encode: Callable[[str], list[int]], dialogues: Dialogues, length: int, end: int) -> None:
        self._rows: list[list[int]] = []
        row = [end]
        for turns in dialogues:
            ids = [token for turn in turns for token in (*encode(turn), end)]
            if 1 < len(row) < length < len(row) + len(ids):
                self._rows.append([*row, *ids][:length])
                row = [end]
            row += ids
            while len(row) > length:
                self._rows.append(row[:length])
                row = [end, *row[length:]]
        if len(row) > 1:
            self._rows.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> list[int]:
        return self._rows[index]
