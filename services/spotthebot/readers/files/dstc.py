"""Dialogues in the form of DSTC 10 and 11: a row for each turn with `UID`, `SID` and `SEG`.

https://github.com/CHANEL-JSALT-2020/Wiki/wiki/File-Data-Formats: a UID is corpus-dialogue-turn.
"""

import re
from dataclasses import replace
from typing import Final

from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.rejected import Rejected

_UID: Final = re.compile(r"(.+)-([0-9]+)")
_COLUMNS: Final = ("UID", "SID", "SEG")


def turn_of(row: TableRow | Rejected) -> TableRow | Rejected:
    """Return a row with the columns of a turn; rows of other tables stay as they are."""
    if isinstance(row, Rejected) or not set(_COLUMNS) <= row.cells.keys():
        return row
    uid, sid, seg = (row.cells[column] for column in _COLUMNS)
    if (match := _UID.fullmatch(uid)) is None:
        return row.rejected(f"its UID '{shown(uid)}' does not end in a number of the turn, such as CORPUS-000001-0001")
    others = {column: cell for column, cell in row.cells.items() if column not in _COLUMNS}
    turn = {"conversation": match[1], "position": match[2], "speaker": sid, "text": seg}
    return replace(row, cells={**turn, **others})
