"""Counts used and rejected rows of a table. If most rows are rejected there is no result."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from spotthebot.readers.errors import BotLosesRows, MostRowsRejected
from spotthebot.readers.files.cells import shown
from spotthebot.readers.rejected import Rejected

_FEW_ROWS = 10
_QUOTED_OR_NUMBER = re.compile(r"'[^']*'|[0-9]+")


@dataclass
class Tally:
    """The numbers of read rows of a table, in all and by bot, and the rejected rows."""

    read: int = 0
    by_bot: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)

    def keep(self, bots: Iterable[str] = (), *, rows: int = 1) -> None:
        """Count rows that are used together."""
        self.read += rows
        self.by_bot.update(set(bots))

    def reject(self, row: Rejected) -> None:
        """Count a rejected row."""
        self.read += 1
        self.by_bot.update(row.bots)
        self.rejected.append(row)

    def require_most(self, *, ranked: bool) -> None:
        """Raise MostRowsRejected or BotLosesRows if too many rows are rejected: half of all, or most of one bot's.

        The remaining rows of such a table are seldom a fair sample. If the result is not `ranked`, the error is raised
        only if more than half of at least ten rows are rejected.
        """
        rejected = sum(row.rows for row in self.rejected)
        if not ranked and (self.read < _FEW_ROWS or rejected * 2 == self.read):
            return
        if rejected * 2 >= max(self.read, 1):
            raise MostRowsRejected(self.rejected, rejected=rejected, read=self.read, reason=_commonest(self.rejected))
        lost = Counter(bot for row in self.rejected for bot in row.bots)
        for bot, count in lost.most_common():
            if (read := self.by_bot[bot]) > 1 and count * 2 > read:
                reason = _commonest([row for row in self.rejected if bot in row.bots])
                raise BotLosesRows(self.rejected, bot=shown(bot), lost=count, read=read, reason=reason)


def _commonest(rejected: Iterable[Rejected]) -> str:
    """Return an example of the most frequent reason; reasons that differ only in quoted values count as equal."""
    reasons = [row.reason for row in rejected]
    kinds = [_QUOTED_OR_NUMBER.sub("", reason) for reason in reasons]
    return reasons[kinds.index(Counter(kinds).most_common(1)[0][0])]
